// A process that leads jobs when it is elected, or watches top-ups without asking; says what it does line by
// line until it is killed.
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase, startElections } from '@causeway/database'
import { createReadMemory } from '../../src/chainReadings/readMemory.ts'
import { type Job, runJobs } from '../../src/jobs/runJobs.ts'
import { watchTopUps } from '../../src/money/topUps/watchTopUps.ts'
import { chainOver } from './scriptedTopUps.ts'

const [task = '', connectionString = '', rpcUrl = '', chainId = '0', leaseMs = '10000'] =
  process.argv.slice(2)
const say = (line: string) => void process.stdout.write(`${line}\n`)
const database = createDatabase({ connectionString, poolSize: 3 })
const nameOf = (error: unknown) => (error instanceof Error ? error.name : String(error))

/** A run that never ends by itself: what it leads under is what it was elected under. */
const writer: Job = {
  name: 'writer',
  intervalMs: 20,
  async run({ fence, signal }) {
    while (!signal.aborted) {
      await database.transaction(async (tx) => {
        await fence(tx)
        await tx.query('insert into written (pid) values ($1)', [process.pid])
      })
      say('wrote')
      await sleep(20)
    }
  },
}

const watch = async (fence: Parameters<Job['run']>[0]['fence'], signal: AbortSignal) => {
  const chain = chainOver([rpcUrl], { chainId: Number(chainId) })
  try {
    const memory = createReadMemory(() => Date.now())
    const common = { chain, database, fence, signal, purpose: 'top-ups', memory } as const
    const { final } = await watchTopUps({ ...common, fromBlock: 0n, lateBlocks: 0n })
    for (const { transactionHash } of final) say(`credited ${transactionHash}`)
  } finally {
    await chain.close()
  }
}

const watcher: Job = { name: 'watcher', intervalMs: 20, run: ({ fence, signal }) => watch(fence, signal) }

if (task === 'unelected') {
  for (;;) {
    await watch(async () => {}, new AbortController().signal).catch((error: unknown) =>
      say(`failed ${nameOf(error)}`),
    )
    await sleep(10)
  }
}
const job = task === 'writer' ? writer : watcher
const elections = startElections({
  jobs: [job.name],
  lockDatabase: createDatabase({ connectionString, poolSize: 1 }),
  database,
  holder: `${process.pid}`,
  leaseMs: Number(leaseMs),
  onChange: (_name, epoch) => say(epoch === undefined ? 'lost' : `won ${epoch}`),
  onFailure: (error) => say(`interrupted ${nameOf(error)}`),
})
runJobs({
  jobs: [job],
  elections,
  now: () => Date.now(),
  onFailure: (_name, error) => say(`failed ${nameOf(error)}`),
})
say('running')
