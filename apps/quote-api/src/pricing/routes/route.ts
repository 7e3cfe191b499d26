import { currencyProblem } from '@causeway/core/encodings'
import { QuoteError } from '../errors.ts'
import { findCurrency, type QuotableChain, type QuotableCurrency, type QuoteRegistry } from '../registry.ts'
import type { Operation, QuoteRequest } from '../request.ts'
import { neverPaid } from './mayBePaid.ts'

/** Chains, currencies, accounts and operation of a request, resolved against the configuration. */
export type Route = {
  readonly origin: QuotableChain
  readonly destination: QuotableChain
  readonly currencyIn: QuotableCurrency
  readonly currencyOut: QuotableCurrency
  readonly operation: Operation
  /** As the caller wrote them; `recipient` defaults to the user. */
  readonly user: string
  readonly recipient: string
  /** Account that refunds are to go to, if the caller names one. */
  readonly refundTo: string | undefined
  /** The user executes the whole operation; no solver, no order. */
  readonly selfExecuted: boolean
}

/**
 * Resolves chains, currencies and addresses and names the operation.
 * @throws QuoteError UNSUPPORTED_CHAIN, CHAIN_DISABLED, INVALID_INPUT_CURRENCY,
 * INVALID_OUTPUT_CURRENCY, INVALID_ADDRESS, INVALID_RECIPIENT
 * @source rules, Q-details-01
 */
export function resolveRoute(registry: QuoteRegistry, request: QuoteRequest): Route {
  const origin = enabledChain(registry, request.originChainId, 'originChainId')
  const destination = enabledChain(registry, request.destinationChainId, 'destinationChainId')
  const currencyIn = currencyOf(origin, request.originCurrency, 'INVALID_INPUT_CURRENCY')
  const currencyOut = currencyOf(destination, request.destinationCurrency, 'INVALID_OUTPUT_CURRENCY')

  // Before a wallet is connected, pages send a placeholder as user. It is no signer, and may be no address.
  if (!origin.quoting.isNobody(request.user)) requireSigner(origin, request.user)
  const recipient = request.recipient ?? request.user
  // Some public clients repeat the user as recipient where none was chosen: a repeated placeholder counts as none. So does
  // the destination's own placeholder where nobody holds the user either.
  const isUser = recipient === request.user
  const isUnheld = origin.payees.isBurnt(request.user) && !request.useDepositAddress
  const isPlaceholder = (isUser || isUnheld) && destination.quoting.isNobody(recipient)
  if (isUser && !isPlaceholder) checkUserReceives(destination, recipient)
  if (request.recipient !== undefined && !isPlaceholder) checkRecipient(destination, request.recipient)
  for (const [index, fee] of request.appFees.entries())
    checkAppFee(registry, fee.recipient, `appFees.${index}.recipient`)

  const sameChain = origin === destination
  return {
    origin,
    destination,
    currencyIn,
    currencyOut,
    operation: nameOperation(origin, destination, currencyIn, currencyOut),
    user: request.user,
    recipient,
    refundTo:
      request.refundTo === undefined ? undefined : refundAccount(origin, request.refundTo, request.user),
    selfExecuted: sameChain && !needsSolver(request, currencyIn === currencyOut),
  }
}

/** @throws QuoteError UNSUPPORTED_CHAIN, CHAIN_DISABLED */
export function enabledChain(registry: QuoteRegistry, chainId: number, field: string): QuotableChain {
  const chain = registry.chainById.get(chainId)
  if (chain === undefined) {
    throw new QuoteError('UNSUPPORTED_CHAIN', `${field} ${chainId} is not supported; see GET /chains.`, {
      data: { field, chainId },
    })
  }
  if (!chain.config.enabled) {
    throw new QuoteError('CHAIN_DISABLED', `${field} ${chainId} is disabled at the moment.`, {
      data: { field, chainId },
    })
  }
  return chain
}

function currencyOf(
  chain: QuotableChain,
  address: string,
  code: 'INVALID_INPUT_CURRENCY' | 'INVALID_OUTPUT_CURRENCY',
): QuotableCurrency {
  const field = code === 'INVALID_INPUT_CURRENCY' ? 'originCurrency' : 'destinationCurrency'
  const currency = findCurrency(chain, address)
  if (currency === undefined) {
    const problem = currencyProblem(chain.codec, address)
    const reasonText = problem === undefined ? '' : `: ${problem}`
    throw new QuoteError(
      code,
      `${field} is not a known currency of chain ${chain.chainId}${reasonText}; see POST /currencies/v2.`,
      { data: { field, chainId: chain.chainId } },
    )
  }
  return currency
}

/** @throws QuoteError INVALID_ADDRESS */
function requireAddress(chain: QuotableChain, address: string, field: string): void {
  if (chain.codec.isAddress(address)) return
  throw new QuoteError('INVALID_ADDRESS', `${field} is not a valid address on chain ${chain.chainId}.`, {
    data: { field, chainId: chain.chainId, vmType: chain.vmType },
  })
}

/** @throws QuoteError INVALID_ADDRESS */
function requireSigner(chain: QuotableChain, user: string): void {
  requireAddress(chain, user, 'user')
  if (chain.quoting.canSign(user)) return
  throw new QuoteError('INVALID_ADDRESS', `user has no key on chain ${chain.chainId}: it cannot sign.`, {
    data: { field: 'user', chainId: chain.chainId, vmType: chain.vmType },
  })
}

/** Checks a user who is the recipient too, because the request names no other. @throws QuoteError INVALID_ADDRESS */
function checkUserReceives({ codec, chainId, vmType }: QuotableChain, user: string): void {
  if (codec.isAddress(user)) return
  const message = `recipient is required: user is not a valid address on chain ${chainId}.`
  throw new QuoteError('INVALID_ADDRESS', message, { data: { field: 'recipient', chainId, vmType } })
}

/** @throws QuoteError INVALID_ADDRESS, INVALID_RECIPIENT @source Q-60 */
export function checkRecipient(chain: QuotableChain, account: string, field = 'recipient'): void {
  requireAddress(chain, account, field)
  const { chainId } = chain
  const staticRefusal = neverPaid(chain, account)
  if (staticRefusal !== undefined)
    throw new QuoteError(staticRefusal.code, `${field} ${staticRefusal.why}.`, { data: { field, chainId } })
}

/**
 * The owner of an app fee claims it by an EVM wallet's signature, on any chain: so all chains' rules count.
 * @throws QuoteError INVALID_RECIPIENT
 * @source Q-4
 */
function checkAppFee({ chains }: QuoteRegistry, wallet: string, field: string): void {
  for (const chain of chains) {
    if (chain.payees.isBurnt(wallet))
      throw new QuoteError(
        'INVALID_RECIPIENT',
        `${field} is an account that nobody holds, so nobody can claim the fee.`,
        { data: { field } },
      )
    if (chain.codec.isAddress(wallet)) checkRecipient(chain, wallet, field)
  }
}

/**
 * The account that `refundTo` means. Public clients send the native currency's id for "whoever pays". That is taken as
 * `user`: a depository's record of the depositor is no substitute, since whoever deposits can choose it.
 * @throws QuoteError INVALID_ADDRESS, INVALID_RECIPIENT
 * @source Q-65
 */
function refundAccount(chain: QuotableChain, refundTo: string, user: string): string {
  const { chainId, codec, payees } = chain
  const isPayer = codec.spellAddress(refundTo) === codec.nativeCurrency
  const account = isPayer ? user : refundTo
  if (payees.isBurnt(account)) {
    const subject = isPayer ? 'refundTo means whoever pays, and user' : 'refundTo'
    throw new QuoteError(
      'INVALID_RECIPIENT',
      `${subject} is an account that nobody holds: name one in refundTo.`,
      { data: { field: 'refundTo', chainId } },
    )
  }
  checkRecipient(chain, account, 'refundTo')
  return account
}

function nameOperation(
  origin: QuotableChain,
  destination: QuotableChain,
  currencyIn: QuotableCurrency,
  currencyOut: QuotableCurrency,
): Operation {
  if (origin !== destination) return currencyIn.asset === currencyOut.asset ? 'bridge' : 'swap'
  if (currencyIn === currencyOut) return 'send'
  if (currencyIn.isNative && currencyOut === origin.wrappedNative) return 'wrap'
  if (currencyOut.isNative && currencyIn === origin.wrappedNative) return 'unwrap'
  return 'swap'
}

/**
 * True if the user cannot execute a route within one chain alone: calls, gas top-ups, app fees, permits and deposit
 * addresses need a solver. App fees on a plain send are not collected, so they do not require one.
 */
function needsSolver(request: QuoteRequest, isSend: boolean): boolean {
  return (
    request.forceSolverExecution ||
    request.usePermit ||
    request.useDepositAddress ||
    request.txs.length > 0 ||
    request.topupGas ||
    (request.appFees.length > 0 && !isSend)
  )
}
