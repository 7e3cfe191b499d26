// P26: calls a second and chain of quote-api that nobody asks, against an earlier commit in the same run: both trees start
// stand-ins of all families, a database and the service, and count what the service asks. The earlier tree is a checkout of its
// own, which is removed again.
import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import type { BenchRow } from './row.ts'

/** Release 0.2.0. */
const earlierCommit = '65f5087f'
const seconds = { counted: 40, warmUp: 60 }

const run = promisify(execFile)
const here = fileURLToPath(new URL('..', import.meta.url))
const processFile = fileURLToPath(new URL('./callsProcess.ts', import.meta.url))
const countsSchema = z.record(z.string(), z.number())
type Counts = z.infer<typeof countsSchema>

/** @throws Error when a tree cannot be installed, or a service ends */
export async function benchCalls(): Promise<readonly BenchRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-calls-'))
  const earlier = join(folder, 'tree')
  await run('git', ['worktree', 'add', '--detach', earlier, earlierCommit], { cwd: here })
  try {
    await run('npx', ['-y', 'pnpm@10.34.9', 'install', '--frozen-lockfile', '--prefer-offline'], {
      cwd: earlier,
    })
    await copyFile(processFile, join(earlier, 'bench/callsProcess.ts'))
    const [now, before] = await Promise.all([callsOf(here), callsOf(earlier)])
    return Object.keys(before).map((endpoint) => rowOf(endpoint, before[endpoint] ?? 0, now[endpoint] ?? 0))
  } finally {
    await run('git', ['worktree', 'remove', '--force', earlier], { cwd: here })
    await rm(folder, { recursive: true, force: true })
  }
}

async function callsOf(tree: string): Promise<Counts> {
  const script = join(tree, 'bench/callsProcess.ts')
  const words = [script, `${seconds.counted}`, `${seconds.warmUp}`]
  const { stdout } = await run(process.execPath, words, { cwd: tree })
  return countsSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''))
}

function rowOf(endpoint: string, before: number, now: number): BenchRow {
  return {
    id: `P26-${endpoint.toLowerCase().replace(/_(rpc|api)?_?url$/, '')}`,
    name: `calls a second of ${endpoint}, against release 0.2.0 in the same run`,
    value: `${now.toFixed(2)}; release 0.2.0 ${before.toFixed(2)}`,
    limit: '<= 1.2 times',
    ratio: before === 0 ? 1 : now / before,
    goal: 1.2,
    atLeast: false,
  }
}
