import type { DepositsResponse, Evidence } from '@causeway/core'

/** Evidence as answers carry it, beside what is signed. @source design.md 7.9 */
export function evidenceToWire(evidence: readonly Evidence[]): NonNullable<DepositsResponse['evidence']> {
  return evidence.map(({ chainId, blockHash, blockNumber, finalityRule, agreeingEndpoints }) => ({
    chainId,
    ...(blockHash !== undefined && { blockHash }),
    ...(blockNumber !== undefined && { blockNumber: blockNumber.toString() }),
    finalityRule,
    agreeingEndpoints: [...agreeingEndpoints],
  }))
}
