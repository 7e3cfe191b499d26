// Deposits on every family, alone, with evidence, and with the signature of a peer.
import { familyKeys } from '@causeway/localnet'
import type { OracleStage } from '../support/stage.ts'

const path = '/attestations/depository-deposits/v1'
/** Transaction id that is in no block of a chain of the family. */
const unknown = {
  solana: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
  bitcoin: '62'.repeat(32),
  tron: '62'.repeat(32),
  hyperliquid: `0x${'62'.repeat(32)}`,
  lighter: '62'.repeat(40),
} as const

export async function recordFamilies({ oracle, world }: OracleStage): Promise<void> {
  for (const chainId of familyKeys) {
    const { transactionId } = world.families.facts[chainId].firstDeposit
    const deposits = (name: string, body: object) =>
      oracle.ask({ name: `${chainId}: ${name}`, path, body: { chainId, transactionId, ...body } })
    await deposits('a deposit', {})
    await deposits('a deposit with evidence', { includeEvidence: true })
    await deposits('a deposit with peers', { requestPeerSignatures: true })
    await deposits('a deposit with peers and evidence', {
      requestPeerSignatures: true,
      includeEvidence: true,
    })
    await deposits('a transaction that does not exist', { transactionId: unknown[chainId] })
    await deposits('a transaction of no form', { transactionId: '!' })
    await deposits('a transaction in capitals', { transactionId: transactionId.toUpperCase() })
  }
}
