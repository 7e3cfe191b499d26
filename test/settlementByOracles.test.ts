// Goal: nobody's lie moves money. A sponsor pays on two honest oracles, not on one that lies beside one that is
// dead, and not when the endpoint of quote-api itself lies with them. Method: the oracle application in processes
// of its own, one that signs whatever it is asked for, real nodes, one of them behind a proxy that changes what
// it tells; quote-api with its jobs and PostgreSQL.
import { createOrderIdHasher } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { freeLoopbackPort, type TestNetwork, waitUntil } from '@causeway/localnet'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type LyingNode, startLyingNode } from '../apps/oracle/test/support/lyingNode.ts'
import {
  callerKey,
  type OracleProcess,
  oracleVariables,
  spawnOracle,
} from '../apps/oracle/test/support/oracleProcess.ts'
import type { QuoteAnswer } from '../apps/quote-api/test/serviceSupport/callService.ts'
import { debitOf } from '../apps/quote-api/test/settlementSupport/requestDriver.ts'
import {
  type SettlementBed,
  startSettlementBed,
} from '../apps/quote-api/test/settlementSupport/settlementBed.ts'
import {
  type StandInOracle,
  startStandInOracle,
} from '../apps/quote-api/test/settlementSupport/standInOracle.ts'
import { createSponsor, moneyOf, type TestSponsor } from '../apps/quote-api/test/sponsorSupport/sponsors.ts'

const balance = 1_000_000_000n
const amount = 60_000_000n
/** Only ends a test that would hang. */
const longTest = 600_000
let bed: SettlementBed
let ownNode: LyingNode
let liar: StandInOracle
/** Each on a port of its own, and `undefined` while it is dead. */
const honest: { port: number; process: OracleProcess | undefined }[] = []
let sponsor: TestSponsor

beforeAll(async () => {
  for (const port of [await freeLoopbackPort(), await freeLoopbackPort()])
    honest.push({ port, process: undefined })
  bed = await startSettlementBed({
    blockTimeSeconds: 1,
    async oracles(network) {
      const [, , { privateKey }] = network.keys.oracles
      const orderIdOf = createOrderIdHasher(() => mainNetwork('ethereum-vm'))
      liar = await startStandInOracle({ privateKey, otherKey: privateKey, orderIdOf })
      const real = honest.map(
        ({ port }, index) => `http://127.0.0.1:${port}|${callerKey}|${network.keys.oracles[index]?.address}`,
      )
      return [...real, `${liar.url}||${liar.signer}`].join(';')
    },
    async environment(network) {
      ownNode = await startLyingNode(network.chains.optimism.url)
      return { OPTIMISM_RPC_URL: ownNode.url }
    },
  })
}, 240_000)
afterAll(async () => {
  await Promise.all(honest.map(({ process }) => process?.stop()))
  await bed?.stop()
  await liar?.stop()
  await ownNode?.stop()
})
beforeEach(async () => {
  await ownNode.tell({ kind: 'none' })
  await start(bed.network, 0)
  await kill(1)
  sponsor = await createSponsor(bed.database, balance)
})

async function start(network: TestNetwork, index: 0 | 1): Promise<void> {
  const oracle = honest[index]
  if (oracle === undefined || oracle.process !== undefined) return
  oracle.process = spawnOracle({
    ...oracleVariables(network),
    HTTP_PORT: String(oracle.port),
    ECDSA_PRIVATE_KEY: network.keys.oracles[index].privateKey,
  })
  await oracle.process.listening()
}

async function kill(index: 0 | 1): Promise<void> {
  const oracle = honest[index]
  await oracle?.process?.stop()
  if (oracle !== undefined) oracle.process = undefined
}

/** A request that was filled with a part of what it asks for. */
async function filled(percent: bigint): Promise<QuoteAnswer> {
  const { requests, solver } = bed
  const quote = await requests.quoted(sponsor, { amount })
  await requests.execute(quote)
  const item = await requests.workFor(quote, 'fill')
  const wanted = BigInt(quote.details.currencyOut.amount)
  const paid = (wanted * percent) / 100n
  if (paid < wanted) await ownNode.tell(claimOf(paid, wanted))
  await solver.carryOut(item, percent)
  return quote
}

/** Every receipt with the first amount tells the second one. */
function claimOf(paid: bigint, claimed: bigint) {
  const word = (value: bigint) => value.toString(16).padStart(64, '0')
  const nothing = {
    blockNumber: 'none',
    forgedBlockNumber: 'none',
    blockHash: 'none',
    forgedBlockHash: 'none',
  }
  return { kind: 'moved' as const, amount: word(paid), forgedAmount: word(claimed), ...nothing }
}

/** The liar was asked so many times more: as often the service had the chance to be deceived. */
async function isAsked(times: number): Promise<void> {
  const before = liar.asked
  await waitUntil('the oracles are asked', () => liar.asked >= before + times)
}

test(
  'one of three lies and one is dead: nothing settles before two honest ones answer',
  async () => {
    liar.mode = 'other_order'
    const quote = await filled(100n)
    await bed.requests.reaches(quote, 'success')
    await isAsked(3)
    expect(await bed.requests.stageOf(quote)).toBe('filled')
    expect((await moneyOf(bed.database, sponsor.wallet)).held).toBe(debitOf(quote))

    await start(bed.network, 1)
    await bed.requests.reachesStage(quote, 'settled')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({
      available: balance - debitOf(quote),
      held: 0n,
    })
    const signers = bed.network.keys.oracles.slice(0, 2).map(({ address }) => address)
    expect((await bed.requests.settlementOf(quote))?.evidence).toMatchObject({
      threshold: 2,
      signatures: signers.map((signer) => ({ signer })),
    })
  },
  longTest,
)

test(
  'a short fill is not paid for, though an oracle and the own endpoint tell that it is whole',
  async () => {
    // Signs whatever it is asked for.
    liar.mode = 'honest'
    const quote = await filled(90n)
    await bed.requests.reaches(quote, 'success')
    await isAsked(3)
    expect(await bed.requests.stageOf(quote)).toBe('filled')

    await start(bed.network, 1)
    await bed.requests.reachesStage(quote, 'parked')
    expect((await bed.requests.settlementOf(quote))?.parked_reason).toBe('SEEN_BUT_DENIED')
    expect(await moneyOf(bed.database, sponsor.wallet)).toEqual({
      available: balance - debitOf(quote),
      held: debitOf(quote),
    })
  },
  longTest,
)
