import { DomainError } from '@causeway/core'
import { createGauges, type HttpMetrics, type ReadinessCheck } from '@causeway/http'
import type { Logger } from 'pino'
import type { ServiceParts } from './openService.ts'

/** The part of the deny list in force that metrics and readiness read. */
type WatchedList = {
  /** `ageSeconds`: age of its oldest source's last reading. `isStale`: above `DENY_LIST_MAX_AGE_SECONDS`. */
  health(): { readonly entries: number; readonly ageSeconds: number; readonly isStale: boolean }
}

/**
 * Connects a service's deny list to its readiness, metrics and shutdown.
 * @param list undefined: none is configured
 */
export function registerDenyList(
  { metrics, check, onClose }: Pick<ServiceParts<'jobs'>, 'metrics' | 'check' | 'onClose'>,
  list: (WatchedList & { close(): unknown }) | undefined,
): void {
  if (list === undefined) return
  onClose('jobs', 'deny list', () => list.close())
  check(denyListCheck(list))
  watchDenyList(metrics, list)
}

/** Result of reading the list again: `kept` means that reading failed and the former list stays in force. */
type ListEvent =
  | { readonly kind: 'replaced'; readonly setting: string; readonly entries: number }
  | { readonly kind: 'kept'; readonly setting: string; readonly problem: string }

/** The list could not be read for too long, so accounts that were added since may pass. */
class DenyListStaleError extends DomainError {
  readonly code = 'DENY_LIST_STALE'
  readonly kind = 'upstream_unavailable'

  constructor() {
    super('The deny list could not be looked at for longer than DENY_LIST_MAX_AGE_SECONDS.')
  }
}

/** Fails while the deny list is stale, so that traffic goes to other processes. The list stays in force meanwhile. */
export function denyListCheck(list: WatchedList): ReadinessCheck {
  return {
    name: 'deny list',
    async check() {
      if (list.health().isStale) throw new DenyListStaleError()
    },
  }
}

/** Logs each reading of the list, without its entries and without the location of its source. */
export function logDenyList(logger: Pick<Logger, 'info' | 'error'>): (event: ListEvent) => void {
  return ({ kind, ...fields }) => {
    if (kind === 'replaced') logger.info(fields, 'the deny list is replaced')
    else logger.error(fields, 'the deny list stays as it was: an operator must look')
  }
}

export function watchDenyList({ registry }: Pick<HttpMetrics, 'registry'>, list: WatchedList): void {
  const gauge = createGauges(registry)
  gauge('deny_list_entries', 'Entries of the deny list in force', () => list.health().entries)
  gauge('deny_list_stale', '1 while the deny list could not be looked at for longer than it may', () =>
    list.health().isStale ? 1 : 0,
  )
  gauge(
    'deny_list_age_seconds',
    'Since the deny list in force was last seen at its source',
    () => list.health().ageSeconds,
  )
}
