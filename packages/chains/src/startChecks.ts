import { setMaxListeners } from 'node:events'
import { ConfigurationError, DomainError } from '@causeway/core'

/**
 * Finds what a chain's endpoints say against its configuration, one sentence each.
 * @throws DomainError when too few of them answer to say anything
 */
export type ChainCheck = (signal: AbortSignal) => Promise<readonly string[]>

/** Resolves once the chain is known to be the configured one. Nothing is read of it before. */
export type ChainGate = (signal: AbortSignal) => Promise<void>

export type StartCheckLog = {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

const checkTimeoutMs = 5_000

/**
 * Asks all chains at once.
 * @param onSilent told of each chain that nothing can be said of
 */
export async function findContradictions(
  checks: ReadonlyMap<string, ChainCheck>,
  onSilent: (chain: string, error: unknown) => void = () => undefined,
): Promise<readonly string[]> {
  const problems = await Promise.all(
    [...checks].map(async ([chain, check]) => {
      const signal = AbortSignal.timeout(checkTimeoutMs)
      // Every endpoint of the chain listens to it.
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
 * Checks the chains of a start: one that contradicts its configuration stops it, and one that does not answer
 * comes into service by itself, once it answers and was checked.
 * @returns by chain, of those that did not answer
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
    // It is asked again and again, and said once.
    if (text !== reported)
      log.error({ event: 'chain_misconfigured', chain, problems }, 'chain contradicts its configuration')
    reported = text
    throw ConfigurationError.listing('Chains contradict the configuration:', problems)
  }
}
