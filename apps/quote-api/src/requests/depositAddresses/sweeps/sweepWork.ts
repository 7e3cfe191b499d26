import { type Hex, minBigint, type NetworkOf, orderSchema, orderWords, type SqlTx } from '@causeway/core'
import type { QuotableChain } from '../../../pricing/registry.ts'
import type { SettledRequest } from '../../settlement/settledRequest.ts'
import type { SweepPayload } from '../../work/workItem.ts'
import { addWork, lockWorkOf } from '../../work/workStore.ts'
import { type StoredAddress, setSweep } from '../addressStore.ts'

/** A sweep that a solver is to be asked for. */
export type Sweep = {
  readonly address: StoredAddress
  readonly request: Pick<SettledRequest, 'requestId' | 'order' | 'orderId' | 'depositSwap'> & {
    readonly orderSignature: Hex
  }
  readonly origin: QuotableChain
  /** Currency to sweep; native coin is swept along with any token. */
  readonly currency: string
  /** Balance of that currency with enough depth, in smallest units. */
  readonly amount: bigint
  readonly nowSeconds: number
  /** Means by which the quoted currency leaves the address; other currencies are deposited as they are. */
  readonly by: 'deposit' | 'swap' | 'withdrawal'
}

/** Adds the work item by which the solver empties an address for a request's order. The caller has locked the address. */
export async function askForSweep(tx: SqlTx, sweep: Sweep, networkOf: NetworkOf): Promise<void> {
  const { address, request, origin } = sweep
  const { requestId } = request
  // The number of earlier sweeps tells the sweeps of an address apart.
  const subject = `${address.address}:${address.sweeps}`
  const payload = sweepPayload(sweep, networkOf)
  await addWork(tx, { kind: 'sweep', requestId, subject, chainId: origin.chainId, payload })
  const item = await lockWorkOf(tx, { kind: 'sweep', requestId, subject })
  if (item === undefined) throw new Error('work that was asked for is there')
  await setSweep(tx, address.address, { sweepId: item.id, requestId })
}

function sweepPayload(sweep: Sweep, networkOf: NetworkOf): SweepPayload {
  const { address, request, origin, currency, amount, by } = sweep
  const { depository, config, chainId, codec } = origin
  const commonFields = {
    chainId,
    depositAddress: address.address,
    amount: amount.toString(),
    deadline: deadlineOf(sweep),
    deposit: { depository, orderId: request.orderId, depositor: address.terms.depositor },
    orderSignature: request.orderSignature,
    ...(by === 'withdrawal' && { goesBack: true }),
  }
  const { depositAddresses, depositAddressProgram: program } = config
  const contract = depositAddresses?.contract ?? (program && codec.canonicalAddress(program))
  // Without a contract the address is a script, as on Bitcoin.
  if (contract === undefined)
    return {
      ...commonFields,
      terms: { ...address.terms, sweeper: hexOf(address.terms.sweeper) },
      // Parsing copies the read-only order into the payload's type.
      order: orderSchema.parse(request.order),
    }
  return {
    ...commonFields,
    contract,
    currency,
    terms: address.terms,
    order: orderWords(request.order, networkOf),
    ...(by === 'swap' && { swap: swapOf(sweep) }),
  }
}

/** CAST: the sweeper of a script address is a public key, which `newDepositAddress` stores in hex. */
const hexOf = (key: string): Hex => key as Hex

/** Unix seconds until which the sweep may begin. Later the address may hold other money, so it is decided anew. */
function deadlineOf({ origin: { quoting, chainId }, nowSeconds }: Sweep): number {
  if (quoting.depositAddresses === undefined) throw new Error(`chain ${chainId} lost its deposit addresses`)
  return nowSeconds + quoting.depositAddresses.sweepSeconds
}

/** The swap of the quoted currency into the deposit's one, of at most the quoted amount. */
function swapOf(sweep: Sweep) {
  const { request, origin, amount } = sweep
  const { depositSwap } = request
  if (depositSwap === undefined) throw new Error('the quote swaps nothing')
  // The hops are encoded in `swapData` and are no member of the payload.
  const { hops: _, amountIn, amountOutMin, ...terms } = depositSwap
  const swappedAmount = minBigint(amount, amountIn)
  const deadlineSeconds = deadlineOf(sweep)
  return {
    ...terms,
    amountIn: amountIn.toString(),
    amountOutMin: amountOutMin.toString(),
    amount: swappedAmount.toString(),
    swapData: origin.quoting.encodeAddressSwap(depositSwap, { amountIn: swappedAmount, deadlineSeconds }),
  }
}
