// Waits until Prometheus fires an alert for the target of a fault.
import { waitUntil } from '@causeway/localnet'
import type { Alert, Prometheus } from './prometheus.ts'

/** Only ends a test that would hang: half an hour of a rule is two minutes here, and a busy machine misses scrapes. */
export const patienceMs = 400_000

/** Resolves once an alert fires with at least these labels. */
export async function fires(
  prometheus: Prometheus,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const isMeant = (alert: Alert) =>
    alert.name === name && Object.entries(labels).every(([label, value]) => alert.labels[label] === value)
  let seen: readonly Alert[] = []
  await waitUntil(
    `${name} fires`,
    async () => {
      seen = await prometheus.alerts()
      return seen.some(isMeant)
    },
    { patienceMs, circumstances: () => `firing: ${JSON.stringify(seen)}` },
  )
}
