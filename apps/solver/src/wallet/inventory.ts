import { randomUUID } from 'node:crypto'
import type { Hex } from '@causeway/core'
import type { ContractPayingChain, PayingChain, PlannedTransaction } from '@causeway/families'
import { encodeFunctionData, maxUint256, parseAbi } from 'viem'
import { hex } from '../work/payloadFields.ts'
import type { ChainDesk } from './chainDesk.ts'
import { nativeCurrency } from './fillTransaction.ts'
import type { Records } from './records.ts'
import type { KeptRecord } from './signedRecord.ts'

/** Holdings of the fill wallet on one chain, and the ways to raise them. */
export type Inventory = {
  /**
   * True when the wallet can pay this much of a currency now, above its floor. When not, a chore that wraps, allows or
   * gathers has begun where one helps.
   * @param through fill contract that takes the currency; by default the chain's own
   */
  has(currency: string, amount: bigint, through?: Hex): Promise<boolean>
  /** Balance less the payments of records that are not mined yet. */
  free(currency: string): Promise<bigint>
}

/** Settings of a chain that the inventory needs. */
export type InventoryChain = {
  readonly chainId: number
  readonly fillContract: Hex
  readonly wrappedNative: Hex
  /** Minimum balance by currency: native coin for gas among it. */
  readonly floors: ReadonlyMap<string, bigint>
}

const wrappedNativeAbi = parseAbi(['function deposit() payable'])
const approvalAbi = parseAbi(['function approve(address spender, uint256 amount) returns (bool)'])

/** Inventory on a chain of contracts: wraps native coin, and approves the fill contract, by chores. */
export function createInventory(
  { desk, paying }: { readonly desk: Pick<ChainDesk, 'prepare'>; readonly paying: ContractPayingChain },
  chain: InventoryChain,
  records: Pick<Records, 'active'>,
): Inventory {
  // `active` also returns records that are mined and not settled.
  const unminedRecords = async () => {
    const { latestCount } = await paying.counts()
    return (await records.active(paying.address, chain.chainId, latestCount)).filter(
      ({ nonce }) => nonce >= latestCount,
    )
  }

  /** Signs a chore, unless one of that name is not mined yet: its effect is to be seen first. */
  async function chore(name: string, transaction: PlannedTransaction): Promise<void> {
    const prefix = `${name}-${chain.chainId}-`
    const { latestCount } = await paying.counts()
    const active = await records.active(paying.address, chain.chainId, latestCount)
    if (active.some(({ id, outcome }) => id.startsWith(prefix) && outcome === 'open')) return
    const prepared = await desk.prepare({ kind: 'relay', transaction })
    if (prepared.kind === 'refused') return
    const subject = {
      id: `${prefix}${randomUUID()}`,
      kind: 'chore' as const,
      orderId: undefined,
      deadline: undefined,
    }
    await prepared.begin(subject)
  }

  async function free(currency: string): Promise<bigint> {
    const [balance, active] = await Promise.all([paying.balanceOf(currency), unminedRecords()])
    return withoutReserved(currency, balance, active)
  }

  async function isAllowed(currency: string, amount: bigint, spender: Hex): Promise<boolean> {
    if (currency === nativeCurrency) return true
    if ((await paying.allowanceFor(currency, spender)) >= amount) return true
    const data = encodeFunctionData({
      abi: approvalAbi,
      functionName: 'approve',
      args: [spender, maxUint256],
    })
    await chore(`approve-${currency}`, { to: tokenOf(currency), data, valueWei: 0n })
    return false
  }

  return {
    free,
    async has(currency, amount, through = chain.fillContract) {
      const availableAmount = (await free(currency)) - (chain.floors.get(currency) ?? 0n)
      if (availableAmount >= amount) return isAllowed(currency, amount, through)
      const missing = amount - availableAmount
      if (currency === chain.wrappedNative && (await free(nativeCurrency)) - missing >= nativeFloor(chain)) {
        const data = encodeFunctionData({ abi: wrappedNativeAbi, functionName: 'deposit' })
        await chore('wrap', { to: chain.wrappedNative, data, valueWei: missing })
      }
      return false
    },
  }
}

/**
 * Inventory of a wallet that wraps nothing.
 * @param chain.isAllowed true when so much of a currency can be taken where payments take it; when not, whatever allows
 *   it has begun
 * @param chain.open records that are not at their end. Payments of those that have landed are subtracted twice for a while,
 *   which only makes the wallet pay later
 */
export function createPlainInventory(chain: {
  readonly balanceOf: (currency: string) => Promise<bigint>
  readonly isAllowed: (currency: string, amount: bigint) => Promise<boolean>
  readonly open: () => Promise<readonly KeptRecord[]>
  readonly floors: ReadonlyMap<string, bigint>
}): Inventory {
  const free = async (currency: string): Promise<bigint> => {
    const [balance, open] = await Promise.all([chain.balanceOf(currency), chain.open()])
    return withoutReserved(currency, balance, open)
  }
  return {
    free,
    async has(currency, amount) {
      if ((await free(currency)) - (chain.floors.get(currency) ?? 0n) < amount) return false
      return chain.isAllowed(currency, amount)
    },
  }
}

/**
 * Sets the allowances that the family's contract needs, by chores of the fill wallet, one per currency at a time. In
 * families without allowances nothing has to be set.
 * @param chain.open records that are not at their end
 * @returns whether so much of a currency can be taken now
 */
export function createAllowances(chain: {
  readonly desk: Pick<ChainDesk, 'prepare' | 'chainId'>
  readonly paying: Pick<PayingChain, 'missingAllowance'>
  readonly open: () => Promise<readonly KeptRecord[]>
}): (currency: string, amount: bigint) => Promise<boolean> {
  const { desk, paying, open } = chain
  return async (currency, amount) => {
    const missing = await paying.missingAllowance?.(currency, amount)
    if (missing === undefined) return true
    const prefix = `approve-${currency}-${desk.chainId}-`
    if ((await open()).some(({ id }) => id.startsWith(prefix))) return false
    const prepared = await desk.prepare({ kind: 'allowance', allowance: missing })
    if (prepared.kind === 'refused') return false
    const id = `${prefix}${randomUUID()}`
    await prepared.begin({ id, kind: 'chore', orderId: undefined, deadline: undefined })
    return false
  }
}

/** Inventory of a wallet whose coins are one line: the balance at the line's end has all signed payments taken off. */
export function createLineInventory(
  { left, gather }: { readonly left: () => Promise<bigint>; readonly gather: () => Promise<void> },
  { currency: own, floors }: { readonly currency: string; readonly floors: ReadonlyMap<string, bigint> },
): Inventory {
  const free = async (currency: string): Promise<bigint> => (currency === own ? left() : 0n)
  return {
    free,
    async has(currency, amount) {
      if ((await free(currency)) - (floors.get(currency) ?? 0n) >= amount) return true
      if (currency === own) await gather()
      return false
    },
  }
}

function withoutReserved(currency: string, balance: bigint, records: readonly KeptRecord[]): bigint {
  return records
    .flatMap(({ payments }): KeptRecord['payments'] => payments)
    .filter((payment) => payment.currency === currency)
    .reduce((remaining, { amount }) => remaining - amount, balance)
}

/** A currency as an address. @throws ZodError for other text, which `handleItem` has refused before */
const tokenOf = (currency: string): Hex => hex(20).parse(currency)

const nativeFloor = ({ floors }: InventoryChain): bigint => floors.get(nativeCurrency) ?? 0n
