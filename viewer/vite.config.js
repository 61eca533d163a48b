// One file: the script and the style are written into the page, so that it opens from disk.
import { defineConfig } from 'vite';

// An inline script ends at the first "</script", wherever that stands.
const fit = (code) => code.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');

function oneFile() {
  return {
    name: 'one-file',
    enforce: 'post',
    generateBundle(_, bundle) {
      const page = bundle['index.html'];
      for (const [name, item] of Object.entries(bundle)) {
        if (item.type === 'chunk') {
          const script = `<script type="module">${fit(item.code.trim())}</script>`;
          page.source = page.source.replace(
            /<script[^>]*src="[^"]*"[^>]*><\/script>/,
            () => script,
          );
        } else if (name.endsWith('.css')) {
          const style = `<style>${String(item.source).trim()}</style>`;
          page.source = page.source.replace(/<link[^>]*rel="stylesheet"[^>]*>/, () => style);
        } else {
          continue;
        }
        delete bundle[name];
      }
    },
  };
}

export default defineConfig({
  base: './',
  plugins: [oneFile()],
  build: {
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: Number.MAX_SAFE_INTEGER,
    chunkSizeWarningLimit: 1000,
    reportCompressedSize: false,
    rollupOptions: { output: { inlineDynamicImports: true } },
  },
});
