// `npm run demo [-- --to solana]`: one sponsored request through its whole life, and the solver's money back, a line per stage. Works on the local network
// that runs in this folder, or starts one for itself.
import { join } from 'node:path'
import { oneCommand, takeCommandLine } from '@causeway/cli'
import { attachLocalNetwork, servicePlans, startSession } from '@causeway/localnet'
import { readDemoNetwork } from './demo/network.ts'
import { demoStages } from './demo/stages.ts'
import { withdrawalStages } from './demo/withdrawal.ts'
import { readPlaces } from './start/options.ts'
import { createProgress } from './start/progress.ts'

const root = join(import.meta.dirname, '..')
const about =
  'One sponsored request through its whole life, on the network of npm start, or on one that it starts.'
const flags = { to: { value: '<chain>', about: 'e.g. solana; default optimism' } }
const { args } = takeCommandLine(process.argv.slice(2), oneCommand('npm run demo --', about, { flags }))
const to = args.text('to') ?? 'optimism'
const { directory, firstPorts, chainPorts } = readPlaces(process.env, root)
const progress = createProgress(
  (line) => console.log(line),
  () => performance.now(),
)
const networkFile = join(directory, 'network.json')
// Ctrl-C ends a start under way, or the stages; what was started here is stopped in either case.
const stopping = new AbortController()
const asked = new Promise<number>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stopping.abort()
      resolve(1)
    })
  }
})
const running = await readDemoNetwork(networkFile)
if (running === undefined) progress.line('No local network runs here: starting one.')
const session =
  running === undefined
    ? await startSession({
        directory,
        fresh: false,
        ports: chainPorts,
        firstPorts,
        services: servicePlans,
        repositoryRoot: root,
        environment: process.env,
        report: progress.line,
        stageDone: progress.stage,
        signal: stopping.signal,
      })
    : undefined
try {
  process.exitCode = await Promise.race([run(), asked])
} finally {
  await session?.stop()
}
// A stage that was given up may still be waiting.
if (stopping.signal.aborted) process.exit(1)

/** @returns the exit code */
async function run(): Promise<number> {
  const network = await readDemoNetwork(networkFile)
  if (network === undefined) throw new Error(`no local network answers by ${networkFile}`)
  const local = await attachLocalNetwork(directory)
  const oracleUrl = network.oracles[0]?.url ?? ''
  const { address: custody } = local.keys.custody
  const stages = demoStages(network, { custody, to }, (filled) => withdrawalStages(local, oracleUrl, filled))
  progress.restart()
  for (const { name, run: runStage } of stages) {
    try {
      progress.stage(name, await runStage())
    } catch (error) {
      console.error(`Stage "${name}" did not come: ${error instanceof Error ? error.message : error}`)
      return 1
    }
  }
  return 0
}
