import { AttestationError } from '../attestations/errors.ts'
import { forceScope } from './keySetting.ts'
import type { OracleMetrics } from './oracleMetrics.ts'

/** The caller of a request, by the label and scopes of its API key; both undefined without a valid key. */
export type ForceCaller = {
  readonly keyLabel: string | undefined
  readonly scopes: ReadonlySet<string> | undefined
}

type ForceOptions = {
  /** `FORCE`. */
  readonly isAllowed: boolean
  readonly kind: string
  readonly metrics: Pick<OracleMetrics, 'countForce' | 'countForceRefused'>
}

type ForceLog = { warn(fields: object, message: string): void }

export type ForceRefusal = 'off' | 'no_key' | 'peer_key'

/** Why a caller may not use `force`; `undefined` if it may. */
function refusalOf(isAllowed: boolean, { scopes }: ForceCaller): ForceRefusal | undefined {
  if (!isAllowed) return 'off'
  if (scopes === undefined) return 'no_key'
  return scopes.has(forceScope) ? undefined : 'peer_key'
}

/**
 * Guards the request option `force`. It settles an order without proof of a payment, so only callers with a key of
 * `API_KEYS`, whom the operator trusts, may use it; a peer's key is not enough. Every use is logged and counted.
 * @source rule P-87
 */
export function createForceGuard({ isAllowed, kind, metrics }: ForceOptions) {
  return {
    /** @throws AttestationError `FORCE_DISABLED`, `FORCE_UNAUTHORIZED` */
    authorise(caller: ForceCaller, log: ForceLog): void {
      const reason = refusalOf(isAllowed, caller)
      if (reason === undefined) return
      metrics.countForceRefused(kind, reason)
      const { keyLabel } = caller
      // Only callers with a key are logged, so that strangers cannot fill the log.
      if (keyLabel !== undefined) {
        log.warn({ event: 'force_refused', kind, keyLabel, reason }, 'force refused')
      }
      if (reason === 'off') {
        throw new AttestationError('FORCE_DISABLED', 'This oracle does not take force: leave it out.')
      }
      throw new AttestationError(
        'FORCE_UNAUTHORIZED',
        'The force option needs a valid API key; the key of a peer is none.',
      )
    },
    /** Logs and counts an answer that was given by force. @param about the request's chain and transactions */
    answered(caller: ForceCaller, about: object, log: ForceLog): void {
      const { keyLabel = '' } = caller
      metrics.countForce(kind, keyLabel)
      log.warn({ event: 'force_answered', kind, keyLabel, ...about }, 'answered by force')
    },
  }
}
