// Refusals of quotes and executions while a chain is stopped. Callers are not told an operator's reason, nor any setting.
import { QuoteError } from '../../pricing/errors.ts'
import { type ChainStop, everyChain } from './stopStore.ts'

const retryAfterSeconds = 60
/** For stops that end with a block of the chain. */
const retryAfterBlockSeconds = 5

/**
 * The refusal that a stop causes for money from `origin` that a solver pays on `paidOn`; undefined if the stop does not cover
 * them. The covered direction depends on the teller of the stop.
 * @param paidOn undefined if the user executes alone
 */
export function refusalBy(
  { chainId, toldBy }: ChainStop,
  origin: number,
  paidOn: number | undefined,
): QuoteError | undefined {
  const isOrigin = coversChain(chainId, origin)
  const isPaidOn = paidOn !== undefined && coversChain(chainId, paidOn)
  const isEither = isOrigin || isPaidOn
  switch (toldBy) {
    case 'solver':
      return isPaidOn
        ? stopped(
            chainId,
            `The solver pays nothing on chain ${chainId} at the moment; other destinations are quoted.`,
          )
        : undefined
    case 'watcher':
      return isOrigin
        ? stopped(
            chainId,
            `Deposits on chain ${chainId} cannot be read at the moment; quotes to it, and from other chains, go on.`,
            retryAfterBlockSeconds,
          )
        : undefined
    case 'terms':
      // Users who execute alone need no solver, so its terms do not matter.
      return paidOn !== undefined && isEither ? refusedBySolver(paidOn) : undefined
    case 'oracles':
    case 'head':
    case 'network':
      return isEither ? refusalOfBoth[toldBy](chainId) : undefined
    default:
      // The operator's stops, and those of a newer release.
      if (isPaidOn) return stoppedByOperator(paidOn)
      return isOrigin ? stoppedByOperator(origin) : undefined
  }
}

const coversChain = (stoppedId: number, chainId: number): boolean =>
  stoppedId === everyChain || stoppedId === chainId

function stopped(chainId: number, message: string, retrySeconds = retryAfterSeconds): QuoteError {
  return new QuoteError('CHAIN_STOPPED', message, { retryAfterSeconds: retrySeconds, data: { chainId } })
}

const stoppedByOperator = (chainId: number): QuoteError =>
  stopped(
    chainId,
    `The operator stopped chain ${chainId}: nothing new begins there until the operator lets it go on.`,
  )

const refusedBySolver = (chainId: number): QuoteError =>
  stopped(
    chainId,
    `The solver would refuse orders to chain ${chainId} at the moment, because its settings and this service's differ: none are sold.`,
  )

/** Refusals of stops that cover both directions and were not made by an operator, by their teller. */
const refusalOfBoth = {
  oracles: (chainId: number) =>
    stopped(
      chainId,
      `Oracles halted chain ${chainId}, because a final block changed: nothing new begins there.`,
    ),
  head: (chainId: number) =>
    stopped(
      chainId,
      `Chain ${chainId} makes no blocks at the moment: nothing new begins there until it does.`,
      retryAfterBlockSeconds,
    ),
  network: (chainId: number) =>
    stopped(
      chainId,
      `The network of chain ${chainId} has changed: nothing new begins there until this service fits it.`,
    ),
} as const

/** The refusal while the clock of this process is off. */
export function clockRefusal(): QuoteError {
  return new QuoteError('SERVICE_UNAVAILABLE', 'The clock of this service is off, so nothing is quoted.', {
    retryAfterSeconds,
  })
}
