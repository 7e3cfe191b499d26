import type { DomainError, SqlTx } from '@causeway/core'
import type { Run } from '../../../jobs/runJobs.ts'
import { QuoteError } from '../../../pricing/errors.ts'
import type { SettledRequest } from '../../settlement/settledRequest.ts'
import { nowSeconds } from '../../settlement/settlementContext.ts'
import { lockAddress, type StoredAddress, setLeft } from '../addressStore.ts'
import { amountOf, type HeldBalances } from '../balanceReading.ts'
import type { AddressChain, DepositAddressContext } from '../depositAddressContext.ts'
import { requote } from '../quotes/requote.ts'
import { askForSweep, type Sweep } from '../sweeps/sweepWork.ts'
import type { ArrivalStep } from './arrivalStep.ts'

/** A paid address within one pass of its chain's job. */
export type Look = {
  readonly site: AddressChain
  readonly address: StoredAddress
  /** Balances at block `height`. */
  readonly balances: HeldBalances
  /** Height at which the pass judges balances: the head, or a block below it whose payers are known. */
  readonly height: bigint
  readonly head: bigint
  readonly run: Run
}

/** A decided step, with the request and the balances of sufficient depth by which it was decided. */
type DecidedArrival = {
  readonly request: SettledRequest
  readonly held: HeldBalances
  readonly step: ArrivalStep
  /** Error with which quoting the payment anew was refused. */
  readonly refusal?: DomainError
}

/** Carries out a step that quotes nothing anew: asks for a sweep, or leaves the money. */
export async function carryOut(
  context: DepositAddressContext,
  look: Look,
  { request, held, step, refusal }: DecidedArrival,
): Promise<void> {
  if (step.action === 'wait' || step.action === 'requote') return
  if (step.action === 'leave') return leavePayment(context, look, step.reason, refusal)
  const { address, currency: quotedCurrency } = look.address
  // A solver sweeps only for signed orders.
  const orderSignature = await context.signatures.of(request)
  await context.database.transaction(async (tx) => {
    const locked = await lockIfUnchanged(tx, look)
    if (locked === undefined) return
    const other = step.action === 'sweep' ? step.other : undefined
    const currency = other ?? quotedCurrency
    // Only the quoted currency is swapped before it is deposited.
    const depositBy = other === undefined && request.depositSwap !== undefined ? 'swap' : 'deposit'
    const sweep: Sweep = {
      address: locked,
      request: { ...request, orderSignature },
      origin: look.site.chain,
      currency,
      amount: amountOf(held, currency),
      nowSeconds: nowSeconds(context),
      by: step.action === 'withdraw' ? 'withdrawal' : depositBy,
    }
    await askForSweep(tx, sweep, context.networkOf)
    const { requestId } = request
    context.logger.info(
      { requestId, address, currency, refusal: refusal?.code },
      'a deposit address is swept',
    )
  })
}

/** Leaves a payment at its address, for an operator or until more arrives. */
export async function leavePayment(
  { database, logger }: DepositAddressContext,
  look: Look,
  reason: string,
  refusal?: DomainError,
): Promise<void> {
  await database.transaction(async (tx) => {
    const locked = await lockIfUnchanged(tx, look)
    if (locked === undefined) return
    const left = { address: locked.address, reason, refusal: refusal?.code }
    if (await setLeft(tx, left.address, reason)) logger.warn(left, 'a payment is left')
  })
}

/** Locks the address. @returns undefined where another process has begun a sweep or quoted anew since it was listed */
async function lockIfUnchanged(tx: SqlTx, { address, run }: Look): Promise<StoredAddress | undefined> {
  await run.fence(tx)
  const locked = await lockAddress(tx, address.address)
  const isSame = locked?.sweepId === undefined && locked?.requestId === address.requestId
  return isSame ? locked : undefined
}

/** Quotes the amount that arrived and asks for its sweep, in one commit. @returns why it cannot be quoted, if so */
export async function quoteAnew(
  context: DepositAddressContext,
  look: Look,
  amount: bigint,
): Promise<QuoteError | undefined> {
  const { address, site } = look
  // Orders for this address must be signed by the key that it was made with.
  if (context.quoting.signer.address.toLowerCase() !== address.terms.orderSigner)
    return new QuoteError('UNSUPPORTED_ROUTE', 'The order signer of this deposit address was replaced.')
  try {
    await requote(context, address, amount, {
      async lock(tx) {
        const locked = await lockIfUnchanged(tx, look)
        if (locked === undefined) throw new AddressChangedError()
        return locked
      },
      async onStored(tx, { quote: { ordered, requestId, depositSwap } }, locked) {
        if (ordered?.signature === undefined)
          throw new Error('a bridge has an order, and what is paid is signed')
        const { order, orderId, signature: orderSignature } = ordered
        const sweep: Sweep = {
          address: locked,
          request: { requestId, order, orderId, orderSignature, depositSwap },
          origin: site.chain,
          currency: address.currency,
          amount,
          nowSeconds: nowSeconds(context),
          by: depositSwap === undefined ? 'deposit' : 'swap',
        }
        await askForSweep(tx, sweep, context.networkOf)
        context.logger.info({ requestId, address: address.address }, 'a payment is quoted anew')
      },
    })
    return undefined
  } catch (error) {
    if (error instanceof AddressChangedError) return undefined
    // A price that is missing at the moment decides nothing, so a later pass quotes again.
    if (!(error instanceof QuoteError) || error.kind === 'upstream_unavailable') throw error
    return error
  }
}

/** Another process has begun a sweep of the address or quoted its money since, so nothing is left to do. */
class AddressChangedError extends Error {}
