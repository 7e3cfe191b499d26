import { setMaxListeners } from 'node:events'
import { ConfigurationError, DomainError } from '@causeway/core'

/**
 * Finds what a chain's endpoints say against its configuration, one sentence each.
 * @throws DomainError when too few of them answer to say anything
 */
export type ChainCheck = (signal: AbortSignal) => Promise<readonly string[]>

/** Checks a chain that was silent at the start; nothing of it is read before it resolves. @throws ConfigurationError */
export type ChainGate = (signal: AbortSignal) => Promise<void>

export type StartCheckLog = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const checkTimeoutMs = 5_000

/**
 * Runs the checks of all chains at once.
 * @param onSilent called for each chain whose endpoints do not answer in time
 */
export async function findContradictions(
  checks: ReadonlyMap<string, ChainCheck>,
  onSilent: (chain: string, error: unknown) => void = () => undefined,
): Promise<readonly string[]> {
  const problems = await Promise.all(
    [...checks].map(async ([chain, check]) => {
      const signal = AbortSignal.timeout(checkTimeoutMs)
      // Requests to every endpoint listen to the signal; without this Node warns of a leak.
      setMaxListeners(0, signal)
      try {
        return await check(signal)
      } catch (error) {
        if (!(error instanceof DomainError || signal.aborted)) throw error
        onSilent(chain, error)
        return []
      }
    }),
  )
  return problems.flat()
}

/**
 * Checks all chains when a service starts. A chain that contradicts its configuration stops the start. One that does
 * not answer lets it go on, and is used once it answers and its gate has checked it.
 * @returns gates of the chains that did not answer, by chain
 * @throws ConfigurationError naming every setting that a chain contradicts
 */
export async function checkChainsAtStart(
  checks: ReadonlyMap<string, ChainCheck>,
  log: StartCheckLog,
): Promise<ReadonlyMap<string, ChainGate>> {
  const gates = new Map<string, ChainGate>()
  const problems = await findContradictions(checks, (chain, error) => {
    log.warn(
      { event: 'chain_silent', chain, err: error },
      'chain does not answer: it is checked once it does',
    )
    const check = checks.get(chain)
    if (check !== undefined) gates.set(chain, gateOf(chain, check, log))
  })
  if (problems.length > 0) throw ConfigurationError.listing('Chains contradict the configuration:', problems)
  return gates
}

function gateOf(chain: string, check: ChainCheck, log: StartCheckLog): ChainGate {
  let reported = ''
  return async (signal) => {
    const problems = await check(signal)
    if (problems.length === 0) {
      log.info({ event: 'chain_checked', chain }, 'chain answers, and is the configured one')
      return
    }
    const text = problems.join('\n')
    // The gate is tried again and again; the same problems are logged once.
    if (text !== reported)
      log.error({ event: 'chain_misconfigured', chain, problems }, 'chain contradicts its configuration')
    reported = text
    throw ConfigurationError.listing('Chains contradict the configuration:', problems)
  }
}
