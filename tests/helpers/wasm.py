"""WebAssembly modules under Node: one call of a function, its memory before, its results and memory after."""

import base64
import json
import subprocess

import numpy as np

from saltus.bench.harness.page_process import node

SCRIPT = """
const [file, given] = process.argv.slice(1);
const { calls, memory } = JSON.parse(given);
const wasm = require('fs').readFileSync(file);
const env = { sin: Math.sin, cos: Math.cos, exp: Math.exp, log: Math.log, pow: Math.pow };
WebAssembly.instantiate(wasm, { env }).then(({ instance: { exports } }) => {
  const bytes = Buffer.from(memory, 'base64');
  const at = exports.heap.value;
  exports.memory.grow(Math.ceil(bytes.length / 65536) + 1);
  new Uint8Array(exports.memory.buffer).set(bytes, at);
  const found = calls.map(([name, args]) => {
    const code = exports[name](...args.map((a) => (typeof a === 'string' ? at + Number(a) : a)));
    return [code, ...new Float64Array(exports.memory.buffer, exports.results_at(), 4)];
  });
  const after = Buffer.from(exports.memory.buffer.slice(at, at + bytes.length)).toString('base64');
  console.log(JSON.stringify({ found, after, exports: Object.keys(exports) }));
});
"""


def run_wasm(wasm, calls, memory, folder):
    """Results [calls, 1 + 4] (the code first), memory after, and the names that are exported.

    calls: [(name, arguments)]; an argument that is text is the address of a place in memory, in bytes. memory: an array
    of doubles.
    """
    (folder / "module.wasm").write_bytes(wasm)
    given = {"calls": calls, "memory": base64.b64encode(np.asarray(memory, float).tobytes()).decode()}
    command = [node(), "-e", SCRIPT, str(folder / "module.wasm"), json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    after = np.frombuffer(base64.b64decode(found["after"]))
    return np.array(found["found"]), after, found["exports"]
