import { DomainError } from '@causeway/core'
import type { HaltAnswer } from './oracleHalts.ts'
import type { OracleSettings } from './oracleSettings.ts'

/** Fewer oracles answer than must sign, so that nothing is attested. */
class OraclesSilentError extends DomainError {
  readonly code = 'ORACLES_SILENT'
  readonly kind = 'upstream_unavailable'

  constructor(answering: number, threshold: number) {
    super(`${answering} of the ORACLES answer, and ${threshold} must sign.`)
  }
}

/** Oracles are asked every two seconds (`askHaltsEveryMs`); one that gives no answer for so long is silent. */
const silentMs = 15_000

/** Knows which oracles answer, from the answers to the regular question for their halts. */
export interface OracleSight {
  /** Takes one round of answers. */
  note(answers: readonly HaltAnswer[]): void
  /**
   * Does nothing in a process that does not ask oracles for halts, or has stopped asking: it cannot know.
   * @throws OraclesSilentError while fewer answer than must sign
   */
  assertEnough(): void
}

/** @source rule O-105 */
export function createOracleSight({ oracles, threshold }: OracleSettings, nowMs: () => number): OracleSight {
  const answeredMs = new Map<string, number>()
  let lastAskedMs: number | undefined
  return {
    note(answers) {
      lastAskedMs = nowMs()
      // An oracle that has not answered yet counts as answering until `silentMs` after the first question.
      for (const { signer, chainIds } of answers)
        if (chainIds !== undefined || !answeredMs.has(signer)) answeredMs.set(signer, lastAskedMs)
    },
    assertEnough() {
      const now = nowMs()
      if (lastAskedMs === undefined || now - lastAskedMs > silentMs) return
      // `note` keeps a time for each oracle; the default only satisfies the type.
      const answering = oracles.filter(
        ({ signer }) => now - (answeredMs.get(signer) ?? now) <= silentMs,
      ).length
      if (answering < threshold) throw new OraclesSilentError(answering, threshold)
    },
  }
}
