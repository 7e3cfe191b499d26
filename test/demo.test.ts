// Goal: `npm run demo` shows the whole life of a request on a network that runs already, as often as one likes.
// Method: its script in a process of its own, twice on one live network.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { firstFamilyPort, type SessionBed, startSessionBed } from './support/sessionBed.ts'

const repositoryRoot = fileURLToPath(new URL('..', import.meta.url))
const stages = [
  ...['top-up seen', 'quoted', 'deposited', 'pinned', 'filled', 'attested', 'posted', 'history', 'settled'],
  ...['withdrawal requested', 'withdrawal issued', 'withdrawal executed', 'withdrawal burned'],
]
let bed: SessionBed

beforeAll(async () => {
  bed = await startSessionBed({}, { firstFamilyPort })
}, 240_000)
afterAll(() => bed?.stop(), 60_000)

async function runDemo(
  words: readonly string[] = [],
): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(process.execPath, ['scripts/demo.ts', ...words], {
    cwd: repositoryRoot,
    env: { PATH: process.env['PATH'], CAUSEWAY_LOCAL_DIR: bed.directory },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const keep = (chunk: Buffer) => {
    output += chunk.toString()
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, output }
}

test('the demo runs twice on one live network, and to Solana, with a line per stage, and leaves it running', async () => {
  for (const run of ['first', 'second', '--to solana']) {
    const { code, output } = await runDemo(run.startsWith('--') ? run.split(' ') : [])
    expect(code, `${run}: ${output}`).toBe(0)
    const lines = output.split('\n').map((line) => line.trim())
    for (const stage of stages) expect(lines.filter((line) => line.startsWith(stage))).toHaveLength(1)
    expect(output).not.toContain('No local network runs here')
    expect(output.includes('of rent paid by the sponsor'), output).toBe(run.startsWith('--'))
  }
  expect((await fetch(`${bed.url}/lives/v1`)).status).toBe(200)
}, 600_000)
