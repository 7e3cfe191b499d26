import type { Hex } from '@causeway/core'
import type { LocalAccount } from '../keys/localKeys.ts'
import type { HashTransfer } from '../standIns/lighter/index.ts'
import type { FamilyFunding } from './familySettings.ts'

/** One chain that a stand-in shows. */
export type FamilyStandIn = {
  readonly url: string
  /**
   * Somebody deposits the native currency for no order; final when it resolves. What he deposited before, in an earlier
   * run too, is not deposited again.
   * @param depositor a name that keys and ids follow from, but for Tron's
   */
  deposit(amount: bigint, depositor: string): Promise<{ readonly transactionId: string }>
  /**
   * Makes an account of a kind that the family's table has, with something of what it can hold; absent where accounts are
   * all alike. @throws Error for another name
   */
  placeWallet?(name: string): Promise<string>
  /** Nobody listens there any more. */
  stop(): Promise<void>
}

/** Options that a stand-in is opened with. */
export type StandInOptions = {
  readonly port: number
  /** As the configuration has it. */
  readonly depository: string
  /** Absent: accounts have nothing, and nothing happens by the clock. */
  readonly funding: FamilyFunding | undefined
  /** Keeps what happened; absent: nothing is kept. */
  readonly journalFile: string | undefined
  /** The node behind Tron. */
  readonly node: { readonly url: string; readonly chainId: number }
  readonly tronDepository: Hex
  /** The token of Tron there. */
  readonly tronUsdc: Hex
  /** The depositor on Tron: an account of that node. */
  readonly depositor: LocalAccount
  readonly tronCreatedFromMs: number | undefined
  /** Ids of transfers on Lighter, by the exchange's own code. */
  readonly hashTransfer: ((lighterChainId: bigint) => Promise<HashTransfer>) | undefined
}

/** The depositor of the deposit that every start has. */
export const firstDepositor = 'first depositor'

/** Times of chains without a clock of their own: long over, so that nothing waits for them. */
export const firstTimeMs = 1_767_225_600_000

/** @throws Error that says which names there are */
export function requireName<Name extends string>(
  name: string,
  isName: (text: string) => text is Name,
  table: Readonly<Record<Name, unknown>>,
): Name {
  if (!isName(name)) throw new Error(`there is no wallet ${name}, but ${Object.keys(table).join(', ')}`)
  return name
}
