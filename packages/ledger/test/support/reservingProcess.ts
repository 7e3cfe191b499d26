// Sends its share of reservations to one database in batches of random size, several at a time, and prints
// how many of each outcome it saw. Started several times at once by the tests.
import { createDatabase } from '@causeway/database'
import { createLedger, type HoldCaps } from '../../src/index.ts'
import { holdNamed, noCaps, patience } from './ledgerBed.ts'

const [connectionString = '', scenario = '', lane = '0', count = '0'] = process.argv.slice(2)
// Patient: a busy machine is no reason to fail.
const database = createDatabase({ connectionString, poolSize: 4, ...patience })

/** What the process does per scenario of the test. */
const capsOf: Readonly<Record<string, Partial<HoldCaps>>> = {
  capped: { holdsPerUser: 3 },
  keyed: { holdsPerKey: 100 },
}
const ledger = createLedger({ caps: { ...noCaps, ...capsOf[scenario] } })

function requestAt(index: number) {
  // The storm is one id from everybody, a few of them with another body.
  if (scenario === 'storm')
    return holdNamed('storm', { amountMicroUsd: index % 4 === 0 ? 2n : 1n, user: 'u' })
  const user = `user ${index % 50}`
  return holdNamed(`${scenario} ${lane} ${index}`, {
    sponsor: scenario,
    apiKeyId: scenario,
    user,
    amountMicroUsd: 1n,
    // A slow machine must not make room by expiry, nor leave due holds to the tests after it.
    lifetimeSeconds: 86_400,
  })
}

const tally = new Map<string, number>()
const requests = Array.from({ length: Number.parseInt(count, 10) }, (_, index) => requestAt(index))

async function send(): Promise<void> {
  for (;;) {
    const batch = requests.splice(0, 1 + Math.floor(Math.random() * 16))
    if (batch.length === 0) return
    const outcomes = await database.transaction((tx) => ledger.reserveBatch(tx, batch))
    for (const outcome of outcomes) {
      const name = outcome.status === 'policy_refused' ? outcome.rule : outcome.status
      tally.set(name, (tally.get(name) ?? 0) + 1)
    }
  }
}

await Promise.all([send(), send(), send(), send()])
await database.close()
process.stdout.write(JSON.stringify(Object.fromEntries(tally)))
