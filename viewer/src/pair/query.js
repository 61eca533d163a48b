// The query of the library, compiled to WebAssembly (viewer/query): it is asked with numbers and
// answers with the JSON of `isotact collide --json`. Plain JavaScript, so that tests run it in node.

/**
 * @typedef {{ load(body: 0 | 1, asset: Uint8Array): void, ask(numbers: number[]): any }} Query
 */

// What the module may want of its surroundings: a clock. Of files there are none.
const kNotSupported = 52;

/**
 * @param {WebAssembly.Module} module
 * @param {() => DataView} memory
 * @returns {WebAssembly.Imports}
 */
function importsOf(module, memory) {
  /** @type {Record<string, Record<string, (...values: any[]) => any>>} */
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    (imports[from] ??= {})[name] = () => kNotSupported;
  const wasi = imports.wasi_snapshot_preview1;
  if (wasi?.clock_time_get)
    wasi.clock_time_get = (_clock, _precision, to) => {
      memory().setBigUint64(to, BigInt(Math.round(1e6 * performance.now())), true);
      return 0;
    };
  if (wasi?.proc_exit)
    wasi.proc_exit = () => {
      throw new Error('the query ended unexpectedly');
    };
  return imports;
}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<Query>}
 */
export async function openQuery(bytes) {
  const module = await WebAssembly.compile(/** @type {Uint8Array<ArrayBuffer>} */ (bytes));
  /** @type {any} */
  let exports;
  const view = () => new DataView(exports.memory.buffer);
  ({ exports } = await WebAssembly.instantiate(module, importsOf(module, view)));
  exports._initialize();

  /** @param {number} at */
  const textAt = (at) => {
    const all = new Uint8Array(exports.memory.buffer);
    return new TextDecoder().decode(all.slice(at, all.indexOf(0, at)));
  };
  /** @param {number} at */
  const answerAt = (at) => {
    const answer = JSON.parse(textAt(at));
    if (answer.error) throw new Error(answer.error);
    return answer;
  };
  return {
    load(body, asset) {
      const at = exports.query_room(asset.length);
      new Uint8Array(exports.memory.buffer, at, asset.length).set(asset);
      answerAt(exports.query_load(body, asset.length));
    },
    ask(numbers) {
      const at = exports.query_room(8 * numbers.length);
      numbers.forEach((x, i) => view().setFloat64(at + 8 * i, x, true));
      return answerAt(exports.query_collide(numbers.length));
    },
  };
}
