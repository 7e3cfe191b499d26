import { DomainError } from '@causeway/core'
import type { HaltWord } from './oracleHalts.ts'
import type { OracleSettings } from './oracleSettings.ts'

/** So few oracles answer that nothing is attested. */
class OraclesSilentError extends DomainError {
  readonly code = 'ORACLES_SILENT'
  readonly kind = 'upstream_unavailable'

  constructor(answering: number, threshold: number) {
    super(`${answering} of the ORACLES answer, and ${threshold} must sign.`)
  }
}

/** Oracles answer every two seconds; one that does not for so long is silent. */
const silentMs = 15_000

/** Oracles that answer, as the process knows that asks them for their halts. */
export interface OracleSight {
  note(words: readonly HaltWord[]): void
  /** A process that asks nobody knows nothing. @throws OraclesSilentError while fewer answer than must sign */
  assertEnough(): void
}

/** @source rule O-105 */
export function createOracleSight({ oracles, threshold }: OracleSettings, nowMs: () => number): OracleSight {
  const answeredMs = new Map<string, number>()
  let notedMs: number | undefined
  return {
    note(words) {
      notedMs = nowMs()
      for (const { signer, chainIds } of words)
        if (chainIds !== undefined || !answeredMs.has(signer)) answeredMs.set(signer, notedMs)
    },
    assertEnough() {
      const now = nowMs()
      if (notedMs === undefined || now - notedMs > silentMs) return
      const answering = oracles.filter(
        ({ signer }) => now - (answeredMs.get(signer) ?? now) <= silentMs,
      ).length
      if (answering < threshold) throw new OraclesSilentError(answering, threshold)
    },
  }
}
