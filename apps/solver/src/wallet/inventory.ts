import { randomUUID } from 'node:crypto'
import type { Hex } from '@causeway/core'
import type { ContractPayingChain, PayingChain } from '@causeway/families'
import { encodeFunctionData, maxUint256, parseAbi } from 'viem'
import { hex } from '../work/payloadFields.ts'
import type { ChainDesk, DeskWork } from './chainDesk.ts'
import { nativeCurrency } from './fillTransaction.ts'
import type { Records } from './records.ts'
import type { KeptRecord } from './signedRecord.ts'

/** Holdings of the fill wallet on one chain, and the ways to raise them. */
export type Inventory = {
  /**
   * True when the wallet can pay this much of a currency now, above its floor. When not, a chore that wraps,
   * allows or gathers has begun where one helps. It reserves nothing: of two items that are looked at side by
   * side both may be told true of one balance, and the transaction of the second then fails and pays nothing.
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

/**
 * Inventory on a chain of contracts: wraps native coin, and approves the fill contract, by chores. Balances
 * are of the newest block, so records that it has mined are not subtracted again.
 */
export function createInventory(
  { desk, paying }: { readonly desk: ChoreDesk; readonly paying: ContractPayingChain },
  chain: InventoryChain,
  records: Pick<Records, 'active'>,
): Inventory {
  /** Also returns records that are mined and not settled. */
  const active = async () => {
    const { latestCount } = await paying.counts()
    return { latestCount, kept: await records.active(paying.address, chain.chainId, latestCount) }
  }
  const begin = createChores(desk, async () => (await active()).kept)
  const free = async (currency: string): Promise<bigint> => {
    const [balance, { latestCount, kept }] = await Promise.all([paying.balanceOf(currency), active()])
    // Signed records whose nonce no block has used.
    const unmined = kept.filter(({ nonce }) => nonce >= latestCount)
    return withoutReserved(currency, balance, unmined)
  }
  /** True if the spender may take so much; if not, an approval has begun. */
  const isAllowed = async (currency: string, amount: bigint, spender: Hex): Promise<boolean> => {
    if (currency === nativeCurrency) return true
    if ((await paying.allowanceFor(currency, spender)) >= amount) return true
    const args = [spender, maxUint256] as const
    const data = encodeFunctionData({ abi: approvalAbi, functionName: 'approve', args })
    const transaction = { to: tokenOf(currency), data, valueWei: 0n }
    await begin(`approve-${currency}`, { kind: 'relay', transaction })
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
        const transaction = { to: chain.wrappedNative, data, valueWei: missing }
        await begin('wrap', { kind: 'relay', transaction })
      }
      return false
    },
  }
}

type ChoreDesk = Pick<ChainDesk, 'prepare' | 'chainId'>

/**
 * Signs chores. One that is open holds up others of its name, as its effect is to be seen first; so does one that another
 * of the items that run side by side is about to begin.
 */
function createChores(desk: ChoreDesk, open: () => Promise<readonly KeptRecord[]>) {
  const beginning = new Set<string>()
  return async (name: string, work: DeskWork): Promise<void> => {
    const prefix = `${name}-${desk.chainId}-`
    if (beginning.has(prefix)) return
    beginning.add(prefix)
    try {
      if ((await open()).some(({ id, outcome }) => id.startsWith(prefix) && outcome === 'open')) return
      const prepared = await desk.prepare(work)
      if (prepared.kind === 'refused') return
      const id = `${prefix}${randomUUID()}`
      await prepared.begin({ id, kind: 'chore', orderId: undefined, deadline: undefined })
    } finally {
      beginning.delete(prefix)
    }
  }
}

/**
 * Inventory of a wallet that wraps nothing.
 * @param chain.isAllowed true when payments can take so much of a currency; when not, a chore that allows it
 * has begun
 * @param chain.open records that are not at their end. For a while, a payment that has landed has lowered the
 * balance and is still in these records: it is subtracted twice, which only makes the wallet pay later
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
 * @param open records that are not at their end
 * @returns whether so much of a currency can be taken now
 */
export function createAllowances({
  desk,
  paying,
  open,
}: {
  readonly desk: ChoreDesk
  readonly paying: Pick<PayingChain, 'missingAllowance'>
  readonly open: () => Promise<readonly KeptRecord[]>
}): (currency: string, amount: bigint) => Promise<boolean> {
  const begin = createChores(desk, open)
  return async (currency, amount) => {
    const missing = await paying.missingAllowance?.(currency, amount)
    if (missing === undefined) return true
    await begin(`approve-${currency}`, { kind: 'allowance', allowance: missing })
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
