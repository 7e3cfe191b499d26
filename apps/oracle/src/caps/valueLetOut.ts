import { type Hex, readAction } from '@causeway/core'

/** The value of an execution, which signing caps count. */
export type ValueLetOut = {
  /** In smallest units, by hub token id. */
  readonly amounts: ReadonlyMap<bigint, bigint>
  /**
   * True when an account that the execution pays into gives more than it gets: a solver whose fees exceed the deposits.
   * An order may name any fee. If such a value were counted, a stranger could use up a cap without any money.
   */
  readonly isOverdrawn: boolean
}

/**
 * Sums the value that an execution creates, destroys or takes from accounts: all minted and burned amounts, and the
 * net amount that each account gives. A fee that the solver pays out of a deposit thus counts only with the deposit.
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
    // Mint or burn.
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
