import './style.css';

import { App } from './app';
import { unpack } from './pack/read';
import { make } from './ui/dom';

declare global {
  interface Window {
    isotact?: App; // for tests, and for the curious
  }
}

async function start(): Promise<void> {
  const root = document.getElementById('app')!;
  try {
    const text = document.getElementById('run-pack')!.textContent!.trim();
    if (text === 'ISOTACT-RUN-PACK') throw new Error('there is no run in this page');
    const app = (window.isotact = new App(root, await unpack(text)));
    const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    if ('play' in document.documentElement.dataset && !still) app.playback.play();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    root.replaceChildren(
      make('p', { class: 'failure', role: 'alert' }, `The run cannot be shown: ${message}.`),
    );
    throw error;
  }
}

void start();
