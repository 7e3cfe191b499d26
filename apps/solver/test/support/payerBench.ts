// A chain behind three endpoints, of which two must agree, and solver processes that pay on it without the rest of a
// solver, each with connections of its own to a database of its own.

import type { Hex } from '@causeway/core'
import type { GasBudgets } from '@causeway/core/config'
import type { HubEntries, PayingChain, ReadableChain } from '@causeway/families'
import type { NetworkFees } from '@causeway/families/rules'
import { waitUntil } from '@causeway/localnet'
import { leaseName } from '../../src/compose/openDesk.ts'
import { createMarkedRecord, type PaymentRecord } from '../../src/facts/paymentRecord.ts'
import { type BudgetName, spentWithinHour } from '../../src/wallet/budgets.ts'
import type { ChainDesk } from '../../src/wallet/chainDesk.ts'
import type { DeskStrategy, Sight } from '../../src/wallet/deskStrategy.ts'
import { ExpiringStrategy } from '../../src/wallet/expiringStrategy.ts'
import { PaymentDesk } from '../../src/wallet/paymentDesk.ts'
import { createRecords, type Records } from '../../src/wallet/records.ts'
import { connectProcess } from './solverDatabases.ts'

export type ProcessOptions = {
  /** False: another process may lead. */
  readonly waits?: boolean
  readonly gas?: Partial<GasBudgets>
  /** The highest bid, in the unit of the family's prices. */
  readonly ceiling?: bigint
  /** Has what the process keeps go through something else. */
  readonly through?: (records: Records) => Records
}

export type DeskProcess = {
  readonly desk: ChainDesk
  readonly records: Records
  /** Sum of a budget in the last hour. */
  spent(budget: BudgetName): Promise<bigint>
  /** Nothing that was taken of a budget is of the last hour any more. */
  anHourPasses(): Promise<void>
  /** Its connections end, as those of a process that was killed. */
  kill(): Promise<void>
}

export type PayerProcess = DeskProcess & {
  /** The chain's own memory of what the wallet paid. */
  readonly record: PaymentRecord
  /** Makes its transactions old: they are bumped, or can no longer land. */
  age(): Promise<void>
}

/** A payment that is signed and not sent. */
export type UnsentPayment = {
  readonly id: Hex
  readonly recipient: string
  readonly raw: Hex
  readonly hash: string
}

/** Faults of endpoints, until they are healed. */
export type PayerFaults = {
  /** One shows nothing of what was paid. */
  hide(paid: { readonly hash: string }): Promise<void>
  /** One shows the payment as made, or as closed. Absent where endpoints cannot say so. */
  invent?(payment: UnsentPayment, state: 'paid' | 'closed'): Promise<void>
  /** One is years ahead. Absent where its time proves itself. */
  hasten?(): Promise<void>
  /** So many do not answer. */
  silence(count: number): Promise<void>
  /** None says anything readable about the payment of this id. */
  garble?(id: Hex): Promise<void>
  heal(): Promise<void>
}

/** A fill wallet's chain of any family. Amounts are in the smallest unit of `coin`. */
export type PayerBench = {
  /** As the configuration has it. */
  readonly chain: ReadableChain
  readonly chainId: number
  readonly coin: string
  readonly wallet: string
  readonly fillContract?: Hex
  readonly hubEntries?: HubEntries
  /** @returns connection string of an empty, migrated database */
  database(): Promise<string>
  process(databaseUrl: string, options?: ProcessOptions): Promise<PayerProcess>
  /** Somebody new. @param isAbsent he costs more, where the chain knows accounts */
  account(isAbsent?: boolean): string
  held(account: string): Promise<bigint>
  /** Unix seconds of the newest block. */
  nowSeconds(): Promise<number>
  /** From now on what lands may be replaced until it is settled. Absent where what lands is final. */
  hold?(): Promise<void>
  /** One block with what was sent. */
  mine(): Promise<void>
  /** Makes final what was sent. */
  settle(): Promise<void>
  /** Sends signed bytes, as a stranger could; the chain decides if they have an effect. */
  land(raw: Hex): Promise<void>
  readonly faults: PayerFaults
  stop(): Promise<void>
}

/** What is sent meanwhile is lost on its way: no endpoint answers. */
export async function unsent(
  { faults }: Pick<PayerBench, 'faults'>,
  run: () => Promise<unknown>,
): Promise<void> {
  await faults.silence(3)
  try {
    await run()
  } finally {
    await faults.heal()
  }
}

type ProcessChain<Seen extends Sight> = {
  readonly chainId: number
  readonly address: string
  /** Gas of an hour, in smallest units. */
  readonly gasPerHour: bigint
  readonly strategyOf: (records: Records) => DeskStrategy<Seen>
  /** Closes what ends with the process. */
  readonly close?: () => Promise<unknown>
}

export async function openProcess<Seen extends Sight>(
  connectionString: string,
  { chainId, address, gasPerHour, strategyOf, close }: ProcessChain<Seen>,
  { waits = true, gas = {}, through = (one) => one }: ProcessOptions,
): Promise<DeskProcess> {
  const job = leaseName(address, chainId)
  const { database, leadership, kill } = connectProcess(connectionString, job, close)
  const records = through(createRecords(database))
  const budgets = { gasPerHourWei: gasPerHour, refundGasPerHourWei: gasPerHour, relayGasPerHourWei: 0n }
  const rules = { ...budgets, ...gas }
  const desk = new PaymentDesk(strategyOf(records), { records, leadership, rules, log: () => undefined })
  if (waits) await waitUntil('the lease is won', () => desk.leads())
  return {
    desk,
    records,
    kill,
    spent: (budget) => spentWithinHour(database, budget),
    async anHourPasses() {
      await database.query(`update budget_entry set at = at - interval '1 hour'`)
    },
  }
}

/** Processes on a chain whose transactions expire. @returns as `PayerBench` has them, with what they pay by */
export const expiringProcesses =
  (chain: {
    readonly chainId: number
    readonly open: () => PayingChain
    readonly landsWithinSeconds: number
    readonly fees: NetworkFees
    readonly ceiling: bigint
    readonly gasPerHour: bigint
    readonly expire: () => Promise<void>
  }) =>
  async (
    connectionString: string,
    options: ProcessOptions = {},
  ): Promise<PayerProcess & { readonly paying: PayingChain }> => {
    const { chainId, open, landsWithinSeconds, fees, gasPerHour, expire } = chain
    const paying = open()
    const { ceiling: maxFeePerGasWei = chain.ceiling } = options
    const strategyOf = (records: Records) =>
      new ExpiringStrategy({
        chainId,
        paying,
        landsWithinSeconds,
        records,
        maxFeePerGasWei,
        marketFees: () => fees,
        nowMs: () => Date.now(),
      })
    const { address } = paying
    const process = await openProcess(connectionString, { chainId, address, gasPerHour, strategyOf }, options)
    return { ...process, paying, record: createMarkedRecord(paying), age: expire }
  }
