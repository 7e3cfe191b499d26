// `npm start`: the local network with every service, until Ctrl-C. `--fresh` begins anew, `--endpoints` has its nodes
// answer like hosted ones, `--shadow` adds an oracle that compares.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import {
  describeEnd,
  familyKeys,
  type Session,
  StartFailure,
  servicePlans,
  shadowPlan,
  startSession,
} from '@causeway/localnet'
import { z } from 'zod'
import { parseStartOptions } from './start/options.ts'
import { createProgress } from './start/progress.ts'
import { exampleTo, summaryOf } from './start/summary.ts'

// Working directory: `run.mjs` starts the bundle in the root of the repository, wherever the bundle is.
const root = process.cwd()
const stopping = new AbortController()
const progress = createProgress(
  (line) => console.log(line),
  () => performance.now(),
)

// A closed terminal must not keep the rest from being stopped.
process.stdout.on('error', () => stopping.abort())
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stopping.abort())

try {
  process.exitCode = await run()
} catch (error) {
  if (stopping.signal.aborted) progress.line('Stopped before everything was up.')
  else if (error instanceof ConfigurationError || error instanceof StartFailure) console.error(error.message)
  else throw error
  process.exitCode = stopping.signal.aborted ? 0 : 1
}

async function run(): Promise<number> {
  const { fresh, shadow, endpoints, directory, firstPorts, chainPorts } = parseStartOptions(
    process.argv.slice(2),
    process.env,
    root,
  )
  progress.line(`Starting a local network in ${relative(process.cwd(), directory) || '.'}`)
  const session = await startSession({
    directory,
    fresh,
    release: releaseHere(),
    endpoints,
    firstFamilyPort: firstPorts.families,
    ports: chainPorts,
    firstPorts,
    services: shadow ? [...servicePlans, shadowPlan] : servicePlans,
    repositoryRoot: root,
    environment: process.env,
    report: progress.line,
    stageDone: progress.stage,
    signal: stopping.signal,
  })
  const solana = await session.families?.opened.solana.catch(() => undefined)
  progress.line(summaryOf(session, solana))
  progress.restart()
  showOthers(session)
  return waitForEnd(session)
}

/** For whoever finds, in a later release, what this one made. */
function releaseHere(): string {
  const text = readFileSync(join(root, 'package.json'), 'utf8')
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version
}

/** The other chains come up behind the first quote. What keeps one from it is told where it is opened. */
function showOthers(session: Session): void {
  for (const key of familyKeys) {
    if (key === 'solana') continue
    session.families?.opened[key].then(
      () => progress.line(exampleTo(key, session).join('\n')),
      () => undefined,
    )
  }
}

/** @returns the exit code */
async function waitForEnd(session: Session): Promise<number> {
  const asked = new Promise<undefined>((resolve) => {
    if (stopping.signal.aborted) resolve(undefined)
    stopping.signal.addEventListener('abort', () => resolve(undefined))
  })
  const end = await Promise.race([asked, session.failed])
  if (end !== undefined) console.error(`\n${describeEnd(end)}`)
  progress.line(end === undefined ? '\nStopping …' : 'Stopping the rest …')
  progress.restart()
  await session.stop()
  progress.stage('stopped', 'nothing is left running; the state is kept for the next start')
  return end === undefined ? 0 : 1
}
