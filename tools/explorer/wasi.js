// tcq as a function: words of a command line and lines of stdin -> status, stdout, stderr.
//
// The module is the command compiled for WASI; a fresh instance answers each question, so that nothing of one
// is left for the next. What WASI asks for beyond arguments, stdin, stdout and time is refused: there are no files.
"use strict";

const WASI_BADF = 8;
const WASI_NOSYS = 52;

class ProcessExit {
  constructor(status) {
    this.status = status;
  }
}

function wasiImports(run) {
  const view = () => new DataView(run.memory.buffer);
  const bytes = () => new Uint8Array(run.memory.buffer);
  const sizes = (list, count, size) => {
    view().setUint32(count, list.length, true);
    view().setUint32(size, list.reduce((sum, item) => sum + item.length, 0), true);
    return 0;
  };
  const strings = (list, pointers, at) => {
    for (const item of list) {
      view().setUint32(pointers, at, true);
      bytes().set(item, at);
      pointers += 4;
      at += item.length;
    }
    return 0;
  };
  // Calls use(address, size) for each piece until one is not used whole; the sum of what was used.
  const pieces = (iovs, count, result, use) => {
    let sum = 0;
    for (let i = 0; i < count; ++i) {
      const address = view().getUint32(iovs + 8 * i, true);
      const size = view().getUint32(iovs + 8 * i + 4, true);
      const used = use(address, size);
      sum += used;
      if (used < size) break;
    }
    view().setUint32(result, sum, true);
    return 0;
  };
  const calls = {
    args_sizes_get: (count, size) => sizes(run.args, count, size),
    args_get: (pointers, at) => strings(run.args, pointers, at),
    environ_sizes_get: (count, size) => sizes([], count, size),
    environ_get: () => 0,
    clock_time_get: (id, precision, result) => {
      view().setBigUint64(result, 0n, true);
      return 0;
    },
    fd_read: (fd, iovs, count, result) => fd !== 0 ? WASI_BADF : pieces(iovs, count, result, (address, size) => {
      const part = run.input.subarray(run.position, run.position + size);
      bytes().set(part, address);
      run.position += part.length;
      return part.length;
    }),
    fd_write: (fd, iovs, count, result) => fd !== 1 && fd !== 2 ? WASI_BADF : pieces(iovs, count, result, (address, size) => {
      run.written[fd].push(bytes().slice(address, address + size));
      return size;
    }),
    fd_fdstat_get: (fd, result) => {
      if (fd > 2) return WASI_BADF;
      bytes().fill(0, result, result + 24);
      bytes()[result] = 2;  // a character device: what is written is not held back
      return 0;
    },
    fd_close: () => 0,
    fd_prestat_get: () => WASI_BADF,
    proc_exit: (status) => {
      throw new ProcessExit(status);
    },
  };
  return new Proxy(calls, { get: (known, name) => known[name] ?? (() => WASI_NOSYS) });
}

const utf8 = new TextEncoder();
function joined(chunks) {
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return new TextDecoder().decode(whole);
}

// A function ask(words, input) of a compiled module.
function asker(module) {
  return (words, input = "") => {
    const run = {
      args: ["tcq", ...words].map((word) => utf8.encode(word.replaceAll("\0", "\\0") + "\0")),
      input: utf8.encode(input), position: 0, written: { 1: [], 2: [] }, memory: null,
    };
    const instance = new WebAssembly.Instance(module, { wasi_snapshot_preview1: wasiImports(run) });
    run.memory = instance.exports.memory;
    let status = 0;
    let broken = "";
    try {
      instance.exports._start();
    } catch (error) {
      if (error instanceof ProcessExit) status = error.status;
      else [status, broken] = [3, `tcq: internal error, please report it with the question: ${error.message}\n`];
    }
    return { status, text: joined(run.written[1]), complaint: joined(run.written[2]) + broken };
  };
}

if (typeof module !== "undefined") module.exports = { asker };
