import { AttestationError } from '../attestations/errors.ts'
import { forceScope } from './keySetting.ts'
import type { OracleMetrics } from './oracleMetrics.ts'

/** Caller, as far as logs may tell: the label of the key, never the key. */
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

/** Reason that a caller may not use `force`; `undefined` if he may. When it is off, it is off for every caller. */
function refuseForce(isAllowed: boolean, { scopes }: ForceCaller): ForceRefusal | undefined {
  if (!isAllowed) return 'off'
  if (scopes === undefined) return 'no_key'
  return scopes.has(forceScope) ? undefined : 'peer_key'
}

/**
 * `force` settles by deposits alone, so it needs somebody whom this oracle's operator trusts with it: a
 * key of `API_KEYS`. A peer has one that lifts the rate limit and nothing else. Every use is written
 * down when its answer leaves, with what it rests on.
 * @source rule P-87
 */
export function createForceGuard({ isAllowed, kind, metrics }: ForceOptions) {
  return {
    /** @throws AttestationError `FORCE_DISABLED`, `FORCE_UNAUTHORIZED` */
    authorise(caller: ForceCaller, log: ForceLog): void {
      const reason = refuseForce(isAllowed, caller)
      if (reason === undefined) return
      metrics.countForceRefused(kind, reason)
      const { keyLabel } = caller
      // A stranger may not fill the log; who has a key and asks for more than it gives is named.
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
    /** @param about transactions and currencies of the request; nothing secret */
    answered(caller: ForceCaller, about: object, log: ForceLog): void {
      const { keyLabel = '' } = caller
      metrics.countForce(kind, keyLabel)
      log.warn({ event: 'force_answered', kind, keyLabel, ...about }, 'answered by force')
    },
  }
}
