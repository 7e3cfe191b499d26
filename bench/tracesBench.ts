import { fork } from 'node:child_process'
import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { median } from './load.ts'
import type { BenchRow } from './row.ts'

const rounds = 5
/** Budget of one processor per request at 7,000 requests a second, µs. */
const shareUs = 1_000_000 / 7_000

/** Level of the log, and how many traces are told; the first is what all others are compared with. */
const kinds = {
  nothing: ['silent', ''],
  'a line': ['info', ''],
  'no trace of ten': ['silent', '0'],
  'one trace of ten': ['silent', '0.1'],
  'every trace': ['silent', '1'],
} satisfies Record<string, readonly [string, string]>

/**
 * P23: what a line and a trace of five spans add to the processor time of a request, each in a process of its own: what
 * follows requests through promises stays on once it is. Alternating, so that a noisy minute hits all.
 */
export async function benchTraces(): Promise<readonly BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-traces-'))
  const log = openSync(join(folder, 'log'), 'w')
  const collector = await startSink()
  try {
    const spent = new Map<string, number[]>()
    for (let round = 0; round < rounds; round += 1) {
      for (const [kind, words] of Object.entries(kinds)) {
        const each = await measure([...words, collector.url], log)
        spent.set(kind, [...(spent.get(kind) ?? []), each])
      }
    }
    return [
      row('P23-line', 'a line', 0.2, spent),
      row('P23-unsampled', 'no trace of ten', 0.2, spent),
      row('P23-sampled', 'one trace of ten', 0.4, spent),
      row('P23-all', 'every trace', 2, spent),
    ]
  } finally {
    await collector.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

function measure(words: readonly string[], log: number): Promise<number> {
  const script = fileURLToPath(new URL('./requestCost.mjs', import.meta.url))
  return new Promise((resolve, reject) => {
    const child = fork(script, [...words], { stdio: ['ignore', log, 'inherit', 'ipc'], execArgv: [] })
    child.once('message', (each) => resolve(Number(each)))
    child.once('exit', (code) => reject(new Error(`the process ended with ${code} before it had measured`)))
  })
}

function row(
  id: string,
  kind: string,
  goal: number,
  spent: ReadonlyMap<string, readonly number[]>,
): BenchRow {
  const base = median(spent.get('nothing') ?? [])
  const added = median(spent.get(kind) ?? []) - base
  return {
    id,
    goal,
    atLeast: false,
    ratio: added / shareUs,
    name: `processor time that ${kind} adds to a request`,
    value: `${added.toFixed(0)} µs, to ${base.toFixed(0)} µs of an injected request without`,
    limit: `<= ${goal} of the ${shareUs.toFixed(0)} µs that a request has at 7,000 in a second`,
  }
}

/** Takes whatever comes and looks at nothing. */
async function startSink() {
  const server = createServer((incoming, answer) => {
    incoming.resume().on('end', () => answer.writeHead(200, { 'content-type': 'application/json' }).end('{}'))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the collector has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}
