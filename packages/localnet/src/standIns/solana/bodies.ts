import type { StoredBody } from '../bodies/index.ts'
import { toTransactionResult } from './storedTransaction.ts'

/** Bodies of a Solana node, which the stand-in answers and tests of the reader use. */
export const solanaBodies = {
  transaction: {
    provenance: 'specified',
    source: '@solana/web3.js 1.99.0, whose schemas accept it in solanaNode.test.ts',
    proves: ['a transaction has its instructions, inner ones included, and balances before and after'],
    body: toTransactionResult,
  },
  nodeErrors: {
    provenance: 'constructed',
    source: "codes of Agave's rpc-client-api, custom_error.rs; the texts are shortened",
    proves: [
      'an error of a node is no answer, except one of a version that it does not show',
      'a slot that was skipped or pruned is unknown',
    ],
    body: {
      nodeBehind: { code: -32_005, message: 'Node is behind by 50 slots' },
      slotSkipped: {
        code: -32_007,
        message: 'Slot 5 was skipped, or missing due to ledger jump to recent snapshot',
      },
      slotSkippedInStorage: { code: -32_009, message: 'Slot 5 was skipped, or missing in long-term storage' },
      blockCleanedUp: { code: -32_001, message: 'Block 3 cleaned up, does not exist on node' },
      unsupportedVersion: {
        code: -32_015,
        message: 'Transaction version (127) is not supported by the requesting client.',
      },
      contextTooOld: { code: -32_016, message: 'Minimum context slot has not been reached' },
      noMethod: { code: -32_601, message: 'Method not found' },
    },
  },
  withoutTime: {
    provenance: 'constructed',
    source: "Solana's documentation of getBlock: a time may be absent",
    proves: ['a block without a time is no answer'],
    body: (block: unknown) => ({ ...Object(block), blockTime: null }),
  },
  withoutInnerInstructions: {
    provenance: 'constructed',
    source: "Solana's documentation of getTransaction: null where a node did not record them",
    proves: ['inner instructions that were not recorded are no answer'],
    body: null,
  },
} satisfies Readonly<Record<string, StoredBody>>
