import type { Hex } from '@causeway/core'
import type { LocalAccount } from '../keys/localKeys.ts'
import type { HashTransfer } from '../standIns/lighter/index.ts'
import type { FamilyFunding } from './familySettings.ts'

/** An open stand-in: one chain that answers at `url` as the chain's nodes do. */
export type FamilyStandIn = {
  readonly url: string
  /**
   * Deposits the native currency for no order; the deposit is final when this resolves. A depositor deposits once: a
   * second call, also in a later run, returns the first deposit.
   * @param amount in smallest units
   * @param depositor a name from which, except on Tron, the sender's key and the id follow
   */
  deposit(amount: bigint, depositor: string): Promise<{ readonly transactionId: string }>
  /**
   * Makes a new account of one of the family's kinds, with some balances; absent where all accounts are of one kind.
   * @returns its address @throws Error for a kind that the family does not have
   */
  placeWallet?(name: string): Promise<string>
  /** Closes the port. */
  stop(): Promise<void>
}

/** Options that a stand-in is opened with. */
export type StandInOptions = {
  readonly port: number
  /** Address in the configuration of services. */
  readonly depository: string
  /** Absent: accounts have nothing, and nothing happens by the clock. */
  readonly funding: FamilyFunding | undefined
  /** File of the stand-in's journal; absent: nothing is kept. */
  readonly journalFile: string | undefined
  /** The node behind Tron. */
  readonly node: { readonly url: string; readonly chainId: number }
  readonly tronDepository: Hex
  /** Contract of USDC on that node. */
  readonly tronUsdc: Hex
  /** The depositor on Tron: an account of that node. */
  readonly depositor: LocalAccount
  /** See `familyNetworkSchema`. */
  readonly tronCreatedFromMs: number | undefined
  /** Computes the ids of transfers on Lighter, with the exchange's own code. */
  readonly hashTransfer: ((lighterChainId: bigint) => Promise<HashTransfer>) | undefined
}

/** Name of the depositor of the deposit that every stand-in has from its first start on. */
export const firstDepositor = 'first depositor'

/** Time of transactions on chains without a clock, in Unix milliseconds: long past, so that no finality waits for it. */
export const firstTimeMs = 1_767_225_600_000

/** Checks the name of a kind of account against the family's table. @throws Error that lists the names */
export function requireName<Name extends string>(
  name: string,
  isName: (text: string) => text is Name,
  table: Readonly<Record<Name, unknown>>,
): Name {
  if (!isName(name)) throw new Error(`there is no wallet ${name}, but ${Object.keys(table).join(', ')}`)
  return name
}
