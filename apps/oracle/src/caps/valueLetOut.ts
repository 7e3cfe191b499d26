import { type Hex, readAction } from '@causeway/core'

/** Value that an execution releases, by hub token id, in smallest units. */
export type ValueLetOut = {
  readonly amounts: ReadonlyMap<bigint, bigint>
  /**
   * True when an account that the execution pays into gives more than it gets: fees beyond the deposits. An
   * order may name any fee, so that counting it would let a stranger use up a cap with nothing.
   */
  readonly isOverdrawn: boolean
}

/**
 * The value that an execution creates, destroys or takes from accounts: all that is minted and burned, and what
 * each account gives beyond what it gets. A fee out of a deposit is part of the deposit.
 * @throws RangeError for an action that nobody can read
 */
export function valueLetOut(actions: readonly Hex[]): ValueLetOut {
  const amounts = new Map<bigint, bigint>()
  const add = (hubTokenId: bigint, amount: bigint) => {
    amounts.set(hubTokenId, (amounts.get(hubTokenId) ?? 0n) + amount)
  }
  const balances = new Map<string, { readonly account: Hex; readonly hubTokenId: bigint; amount: bigint }>()
  const move = (account: Hex, hubTokenId: bigint, amount: bigint) => {
    const key = `${account} ${hubTokenId}`
    const balance = balances.get(key) ?? { account, hubTokenId, amount: 0n }
    balance.amount += amount
    balances.set(key, balance)
  }
  const paidInto = new Set<Hex>()
  for (const { hubFrom, hubTo, hubTokenId, amount } of actions.map(readAction)) {
    if (hubFrom === undefined || hubTo === undefined) add(hubTokenId, amount)
    else {
      move(hubFrom, hubTokenId, -amount)
      move(hubTo, hubTokenId, amount)
      paidInto.add(hubTo)
    }
  }
  let isOverdrawn = false
  for (const { account, hubTokenId, amount } of balances.values()) {
    if (amount >= 0n) continue
    add(hubTokenId, -amount)
    if (paidInto.has(account)) isOverdrawn = true
  }
  return { amounts, isOverdrawn }
}
