import { blockedWallet } from '@causeway/chains'
import { DomainError, depthBlocks, type SqlTx, usdValueDown } from '@causeway/core'
import { paceMs } from '@causeway/core/config'
import type { Run } from '../../../jobs/runJobs.ts'
import { QuoteError } from '../../../pricing/errors.ts'
import { refundCost, sweepCostIn } from '../../../pricing/fees/gas.ts'
import { findCurrency } from '../../../pricing/registry.ts'
import { depthRuleOf } from '../../settlement/chain/depth.ts'
import { readSettledRequest, refundTermsOf, type SettledRequest } from '../../settlement/settledRequest.ts'
import { nowSeconds } from '../../settlement/settlementContext.ts'
import { runConcurrently } from '../../work/followWork.ts'
import {
  lanesInOrder,
  listDueAddresses,
  lockAddress,
  markDeep,
  markDenied,
  markSenderUnknown,
  noteTransfer,
  paidLanes,
  readScanCursor,
  recheckAddressesAfter,
  type StoredAddress,
  setLeft,
} from '../addressStore.ts'
import { amountOf, type HeldBalances, heldAtBoth, isEmpty, othersOf } from '../balanceReading.ts'
import type { AddressChain, DepositAddressContext } from '../depositAddressContext.ts'
import { requote } from '../quotes/requote.ts'
import { askForSweep, type Sweep } from '../sweeps/sweepWork.ts'
import {
  type Arrival,
  type ArrivalStep,
  arrivalStep,
  judgedHeight,
  type NewestQuote,
  whenRefused,
} from './arrivalStep.ts'

const atOnce = 4
/** Time for which an address that blocks brought forward keeps its lane, while its money becomes final. */
const keepsLaneMs = 86_400_000
/** Blocks that come seldom come at any moment. */
const pauseMaxMs = 30_000

/** One pass over addresses of a chain that are due: what was paid to them is swept or quoted anew. */
export async function watchAddresses(
  context: DepositAddressContext,
  site: AddressChain,
  run: Run,
): Promise<void> {
  const { database } = context
  const { chain } = site
  const due = await listDueAddresses(database, chain.chainId, site.isSeenInBlocks ? paidLanes : lanesInOrder)
  if (due.length === 0) return
  const head = await site.head(run.signal)
  const at = await judgedAt(context, site, head)
  const names = due.map(({ address }) => address)
  const held = await site.balances(names, at, run.signal)
  await database.transaction(async (tx) => {
    await run.fence(tx)
    const lookResults = names.map((address, index) => ({ address, isEmpty: isEmptyAt(held[index]) }))
    const unknown = names.filter((_address, index) => held[index] === undefined)
    if (unknown.length > 0)
      context.logger.warn({ chain: chain.key, addresses: unknown }, 'what lies there is not answered for')
    const keepsMs = site.isSeenInBlocks ? keepsLaneMs : 0
    const leastMs = Math.min(paceMs(chain.config), pauseMaxMs)
    await recheckAddressesAfter(tx, lookResults, { leastMs, keepsMs })
  })
  const paid = due.flatMap((address, index) => {
    const balances = held[index]
    return balances === undefined || isEmpty(balances) ? [] : [{ address, balances }]
  })
  await runConcurrently(paid, { atOnce, run }, ({ address, balances }) =>
    actOn(context, { site, address, balances, at, head, run }),
  )
}

function isEmptyAt(balances: HeldBalances | undefined): boolean {
  return balances !== undefined && isEmpty(balances)
}

async function judgedAt(
  { database }: Pick<DepositAddressContext, 'database'>,
  { chain, payers }: Pick<AddressChain, 'chain' | 'payers'>,
  head: bigint,
): Promise<bigint> {
  if (payers !== undefined) return head
  return judgedHeight(head, (await readScanCursor(database, chain.chainId))?.scannedTo)
}

type Look = {
  readonly site: AddressChain
  readonly address: StoredAddress
  /** At the block of `at`. */
  readonly balances: HeldBalances
  readonly at: bigint
  readonly head: bigint
  readonly run: Run
}

async function actOn(context: DepositAddressContext, look: Look): Promise<void> {
  if (!(await areSendersKnown(context, look))) return
  const request = await readSettledRequest(context.database, look.address.requestId)
  if (request === undefined) return
  const denied = context.screening?.deniedIn({ ...request, appFees: request.quoted.appFees })
  if (denied !== undefined) return leavePayment(context, look, blockedWallet)
  const held = await deepBalances(look, request)
  const arrival = arrivalOf(context, look, held)
  if (arrival.amount > 0n || arrival.others.length > 0) await markDeep(context.database, look.address.address)
  const { isStrict, failedSwaps } = look.address
  const quote = {
    isStrict,
    ...paidTermsOf(request),
    failedSwaps: request.depositSwap && failedSwaps,
    isWaiting: request.status === 'waiting' && request.settlement === undefined,
    expiresAtSeconds: request.expiresAtSeconds,
    deadlineSeconds: request.deadlineSeconds,
    leadSeconds: look.site.chain.quoting.depositAddresses?.leadSeconds ?? 0,
  }
  const isGivenBack = request.released === 'refund' && arrival.amount > 0n
  const step = isGivenBack
    ? ({ action: 'withdraw' } as const)
    : arrivalStep({ arrival, quote, nowSeconds: nowSeconds(context) })
  await tellTransfer(context, look, step)
  if (step.action !== 'requote') return take(context, look, { request, held, step })
  const refusal = await quoteAnew(context, look, step.amount)
  if (refusal === undefined) return
  await take(context, look, { request, held, step: whenRefused(arrival, quote), refusal })
}

/**
 * True once the payers are known, from blocks or from the address itself. Money is not swept before they are screened.
 */
async function areSendersKnown({ database, screening }: DepositAddressContext, look: Look): Promise<boolean> {
  if (screening === undefined) return true
  const { site, address, at, run } = look
  if (site.payers !== undefined) {
    const payers = await site.payers(address.address, at, run.signal)
    if (payers === 'reading') return false
    const payersByAddress = new Map([[address.address, new Set(payers)]])
    await database.transaction((tx) =>
      payers === undefined
        ? markSenderUnknown(tx, address.address)
        : markDenied(tx, site.chain.chainId, payersByAddress, screening),
    )
    return true
  }
  const cursor = await readScanCursor(database, look.site.chain.chainId)
  return cursor !== undefined && cursor.scannedTo >= look.at
}

/** A request shows who paid it. Where nobody can say that, no money waits for it. */
async function tellTransfer(
  { database, logger }: DepositAddressContext,
  { site, address: { address, currency }, at, run }: Look,
  { action }: ArrivalStep,
): Promise<void> {
  if (site.transfer === undefined || action === 'wait' || action === 'leave') return
  try {
    const transfer = await site.transfer(address, { currency, height: at }, run.signal)
    if (transfer !== undefined) await noteTransfer(database, address, transfer)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    logger.warn({ address, error }, 'nobody says which transfer brought what lies there')
  }
}

/** Amount to pay to the address and the minimum of its refund, in the currency that is paid. */
function paidTermsOf(request: SettledRequest): Pick<NewestQuote, 'amount' | 'refund'> {
  const refund = refundTermsOf(request)
  const { depositSwap } = request
  if (depositSwap === undefined) return { amount: refund.inputAmount, refund }
  // At the least price of the swap, as the deposit will be judged.
  const { amountIn: amount, amountOutMin } = depositSwap
  const refundMinimum = (amount * refund.refundMinimum) / amountOutMin
  return { amount, refund: { inputAmount: amount, refundMinimum } }
}

/** Balances that the address holds and held already as deep as their worth asks for; those swept since `at` are gone. */
async function deepBalances(look: Look, { quoted }: SettledRequest): Promise<HeldBalances> {
  const { site, address, at, head, run } = look
  const heldNow = at === head ? [look.balances] : await site.balances([address.address], head, run.signal)
  const balances = heldAtBoth(look.balances, heldNow[0] ?? new Map())
  const valueMicroUsd =
    usdValueDown(amountOf(balances, address.currency), quoted.units.in) / usdX18PerMicroUsd
  // Other currencies are not valued: the deepest confirmation rule covers any value.
  const worth = othersOf(balances, address.currency).length > 0 ? valueMax : valueMicroUsd
  // The deposit that the sweep makes is on the same fork, and waits for the rest of the rule.
  const back = depthBlocks(depthRuleOf(site.chain, worth), site.chain.config)
  if (back <= 0n) return balances
  const [deep] = await site.balances([address.address], at > back ? at - back : 0n, run.signal)
  return deep === undefined ? new Map() : heldAtBoth(balances, deep)
}

const usdX18PerMicroUsd = 10n ** 12n
const valueMax = 2n ** 255n

function arrivalOf(context: DepositAddressContext, { site, address }: Look, held: HeldBalances): Arrival {
  return {
    amount: amountOf(held, address.currency),
    others: othersOf(held, address.currency).map(([currency, amount]) => ({
      currency,
      isWorthRefund: isWorthRefundNow(context, site, currency, amount),
    })),
  }
}

/** A currency whose worth nobody knows at the moment waits, and keeps nothing else waiting. */
function isWorthRefundNow(...args: Parameters<typeof isWorthRefund>): boolean {
  try {
    return isWorthRefund(...args)
  } catch (error) {
    if (error instanceof QuoteError) return false
    throw error
  }
}

/** @throws QuoteError while nobody knows what gas or currency are worth */
function isWorthRefund(
  { quoting }: DepositAddressContext,
  { chain }: AddressChain,
  address: string,
  amount: bigint,
): boolean {
  const currency = findCurrency(chain, address)
  if (currency === undefined) return false
  const snapshot = quoting.snapshot()
  // A refund must leave something: the solver sends the sweep and the refund, and both are deducted.
  return amount > sweepCostIn(snapshot, chain, currency) + refundCost(snapshot, chain, currency)
}

/** @returns why what arrived cannot be quoted, undefined once it is */
async function quoteAnew(
  context: DepositAddressContext,
  look: Look,
  amount: bigint,
): Promise<QuoteError | undefined> {
  const { address, site } = look
  // Orders for this address must be signed by the key that it was made with.
  if (context.quoting.signer.address.toLowerCase() !== address.terms.orderSigner) return signerReplaced()
  let locked: StoredAddress | undefined
  try {
    await requote(context, address, amount, {
      begin: async (tx) => {
        locked = await lockUnmoved(tx, look)
        if (locked === undefined) throw new MovedAddressError()
      },
      onStored: async (tx, { quote }) => {
        const { ordered, requestId, depositSwap } = quote
        if (ordered?.signature === undefined || locked === undefined)
          throw new Error('a bridge has an order, and what is paid is signed')
        const { order, orderId, signature: orderSignature } = ordered
        await askForSweep(
          tx,
          {
            address: locked,
            request: { requestId, order, orderId, orderSignature, depositSwap },
            origin: site.chain,
            currency: address.currency,
            amount,
            nowSeconds: nowSeconds(context),
            by: depositSwap === undefined ? 'deposit' : 'swap',
          },
          context.networkOf,
        )
        context.logger.info({ requestId, address: address.address }, 'a payment is quoted anew')
      },
    })
    return undefined
  } catch (error) {
    if (error instanceof MovedAddressError) return undefined
    if (!(error instanceof QuoteError) || error.kind === 'upstream_unavailable') throw error
    return error
  }
}

/** Another process acted on the address meanwhile. */
class MovedAddressError extends Error {}

function signerReplaced(): QuoteError {
  return new QuoteError('UNSUPPORTED_ROUTE', 'The order signer of this deposit address was replaced.')
}

type ArrivalDecision = {
  readonly request: SettledRequest
  readonly held: HeldBalances
  readonly step: ArrivalStep
  readonly refusal?: DomainError
}

async function take(
  context: DepositAddressContext,
  look: Look,
  { request, held, step, refusal }: ArrivalDecision,
): Promise<void> {
  if (step.action === 'wait' || step.action === 'requote') return
  const {
    address: { address, currency: quoted },
    site,
  } = look
  if (step.action === 'leave') return leavePayment(context, look, step.reason, refusal)
  // A solver sweeps for signed orders alone.
  const orderSignature = await context.signatures.of(request)
  await context.database.transaction(async (tx) => {
    const locked = await lockUnmoved(tx, look)
    if (locked === undefined) return
    const other = step.action === 'sweep' ? step.other : undefined
    const currency = other ?? quoted
    const amount = amountOf(held, currency)
    const isSwapped = other === undefined && request.depositSwap !== undefined
    const sweep: Sweep = {
      address: locked,
      request: { ...request, orderSignature },
      origin: site.chain,
      currency,
      amount,
      nowSeconds: nowSeconds(context),
      by: step.action === 'withdraw' ? 'withdrawal' : isSwapped ? 'swap' : 'deposit',
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
async function leavePayment(
  { database, logger }: DepositAddressContext,
  look: Look,
  reason: string,
  refusal?: DomainError,
): Promise<void> {
  await database.transaction(async (tx) => {
    const locked = await lockUnmoved(tx, look)
    if (locked === undefined) return
    const left = { address: locked.address, reason, refusal: refusal?.code }
    if (await setLeft(tx, left.address, reason)) logger.warn(left, 'a payment is left')
  })
}

/** The address, locked, unless another process acted on it since it was read. */
async function lockUnmoved(tx: SqlTx, { address, run }: Look): Promise<StoredAddress | undefined> {
  await run.fence(tx)
  const locked = await lockAddress(tx, address.address)
  const isSame = locked?.sweepId === undefined && locked?.requestId === address.requestId
  return isSame ? locked : undefined
}
