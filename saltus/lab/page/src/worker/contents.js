/** The contents of a standalone page; written by saltus/lab/standalone/page.py. */

/** The parts of a page's contents: a length and text, a length and a module, and the memory's image. */
export async function contents(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const all = new Uint8Array(await new Response(stream).arrayBuffer());
  const lengths = new DataView(all.buffer);
  const [text, wasm] = [lengths.getUint32(0, true), lengths.getUint32(4, true)];
  const parts = [all.subarray(8, 8 + text), all.subarray(8 + text, 8 + text + wasm), all.subarray(8 + text + wasm)];
  return { about: JSON.parse(new TextDecoder().decode(parts[0])), wasm: parts[1], image: parts[2] };
}
