// P7, by family: how often one attestation waits for a chain's endpoint, by route. Whole requests against an
// oracle that keeps nothing, over one running chain of each family; counted at a proxy in front of it.
import { paths } from '../apps/oracle/test/fixtures/oracleApp.ts'
import { type BedOracle, openBedOracle } from '../test/support/familyBeds/bedOracle.ts'
import {
  askedAmount,
  depositOrder,
  filledAmount,
  orderAcross,
  payFor,
  refundedAmount,
} from '../test/support/familyBeds/bedOrders.ts'
import { startBitcoinFamilyBed } from '../test/support/familyBeds/bitcoinFamilyBed.ts'
import { startEthereumFamilyBed } from '../test/support/familyBeds/ethereumFamilyBed.ts'
import type { FamilyBed } from '../test/support/familyBeds/familyBed.ts'
import { startHyperliquidFamilyBed } from '../test/support/familyBeds/hyperliquidFamilyBed.ts'
import { startLighterFamilyBed } from '../test/support/familyBeds/lighterFamilyBed.ts'
import type { RoundCount } from '../test/support/familyBeds/roundProxy.ts'
import { startSolanaFamilyBed } from '../test/support/familyBeds/solanaFamilyBed.ts'
import { startTronFamilyBed } from '../test/support/familyBeds/tronFamilyBed.ts'
import type { BenchRow } from './row.ts'

type Measured = {
  readonly name: string
  start(): Promise<FamilyBed>
  /** Rounds that docs/internals/<family>-reader.md states for a cold reading. */
  readonly goals: {
    readonly transaction: number
    readonly withdrawal: number
    /** Rounds for an expired order, where it needs more than the others. */
    readonly expired?: number
  }
}

const measured: readonly Measured[] = [
  { name: 'ethereum-vm', start: startEthereumFamilyBed, goals: { transaction: 2, withdrawal: 2 } },
  { name: 'solana-vm', start: startSolanaFamilyBed, goals: { transaction: 2, withdrawal: 2 } },
  { name: 'bitcoin-vm, node', start: startBitcoinFamilyBed, goals: { transaction: 2, withdrawal: 2 } },
  {
    name: 'bitcoin-vm, Esplora',
    start: () => startBitcoinFamilyBed('esplora'),
    goals: { transaction: 2, withdrawal: 2 },
  },
  {
    name: 'hyperliquid-vm',
    start: startHyperliquidFamilyBed,
    goals: { transaction: 1, withdrawal: 1, expired: 2 },
  },
  { name: 'lighter-vm', start: startLighterFamilyBed, goals: { transaction: 1, withdrawal: 1 } },
  {
    name: 'lighter-vm, explorer',
    start: () => startLighterFamilyBed({ hasExplorer: true }),
    goals: { transaction: 1, withdrawal: 2 },
  },
  { name: 'tron-vm', start: startTronFamilyBed, goals: { transaction: 2, withdrawal: 2 } },
]

/** @throws Error when an attestation is refused */
export async function benchFamilyRounds(): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = []
  for (const family of measured) rows.push(...(await measureFamily(family)))
  return rows
}

async function measureFamily({ name, start, goals }: Measured): Promise<readonly BenchRow[]> {
  const bed = await start()
  const [cold, warm] = [await openBedOracle([bed]), await openBedOracle([bed], 100)]
  const count = (oracle: BedOracle, path: string, payload: object) =>
    bed.upstream.measure(() => attest(oracle, path, payload))
  try {
    const { deposit, fill, refund } = await settledOrder(bed, cold)
    await attest(warm, paths.fills, fill)
    const rows: (readonly [string, RoundCount, number])[] = [
      ['deposit', await count(cold, paths.deposits, deposit), goals.transaction],
      ['fill, with its deposit', await count(cold, paths.fills, fill), goals.transaction],
      ['refund, with its deposit', await count(cold, paths.refunds, refund), goals.transaction],
      ['fill of transactions read before', await count(warm, paths.fills, fill), 0],
    ]
    for (const status of ['executed', 'pending', 'expired'] as const) {
      const question = await bed.withdrawal(status)
      await bed.finalize()
      const payload = { chainId: bed.chain.id, ...question }
      const counted = await count(cold, paths.withdrawals, payload)
      const goal = (status === 'expired' ? goals.expired : undefined) ?? goals.withdrawal
      rows.push([`${status} withdrawal`, counted, goal])
    }
    return rows.map(([what, counted, goal]) => rowOf(`${name}: ${what}`, counted, goal))
  } finally {
    await Promise.all([cold.close(), warm.close()])
    await bed.stop()
  }
}

async function settledOrder(bed: FamilyBed, { networkOf }: BedOracle) {
  const order = orderAcross([bed], bed)
  const { id, settlement } = await depositOrder(order, [{ bed, amount: askedAmount(bed) }], networkOf)
  const [{ transactionId = '' } = {}] = settlement.inputs
  const filling = await payFor(id, bed, { amount: filledAmount(bed) })
  const refunding = await payFor(id, bed, { amount: refundedAmount(bed) })
  return {
    deposit: { chainId: bed.chain.id, transactionId },
    fill: { ...settlement, fill: { transactionId: filling } },
    refund: { ...settlement, refunds: [{ transactionId: refunding, inputIndex: 0, refundIndex: 0 }] },
  }
}

async function attest(oracle: BedOracle, path: string, payload: object): Promise<void> {
  const { status, body } = await oracle.post(path, payload)
  if (status !== 200) throw new Error(`${path} was refused: ${JSON.stringify(body)}`)
}

function rowOf(what: string, { rounds, requests }: RoundCount, goal: number): BenchRow {
  return {
    id: 'P7-rounds',
    name: `rounds of one attestation, ${what}`,
    value: `${rounds}, requests ${requests}`,
    limit: `≤ ${goal}`,
    ratio: rounds,
    goal,
    atLeast: false,
  }
}
