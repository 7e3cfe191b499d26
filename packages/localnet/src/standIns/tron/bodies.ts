import type { StoredBody } from '../bodies/index.ts'
import { renderBlock, renderConstant, renderInfo, renderTransaction } from './renderBodies.ts'

const types = 'tronweb 6.5.1, Types'

/** Bodies of the facade; those that real nodes sent are beside the tests of the reader. */
export const tronBodies = {
  block: {
    provenance: 'specified',
    source: `${types}.Block`,
    proves: ['the first block carries the id of its network'],
    body: renderBlock,
  },
  info: {
    provenance: 'specified',
    source: `${types}.TransactionInfo`,
    proves: ['a call that reverted has REVERT in its receipt and FAILED as its result'],
    body: renderInfo,
  },
  transaction: {
    provenance: 'specified',
    source: `${types}.GetTransactionResponse`,
    proves: ['a transaction is what the bytes behind its id say'],
    body: renderTransaction,
  },
  constantCall: {
    provenance: 'specified',
    source: `${types}.TransactionWrapper`,
    proves: ['a constant call answers words of 32 bytes'],
    body: renderConstant,
  },
  contract: {
    provenance: 'specified',
    source: 'tronprotocol/documentation-en, docs/api/http/smart-contract/getcontract.md',
    proves: ['a contract is there when it has code'],
    body: (address: unknown, code: string) => ({ contract_address: address, bytecode: code }),
  },
  missing: {
    provenance: 'constructed',
    source: 'what public clients take for an unknown id',
    proves: ['{} means that there is no such thing'],
    body: {},
  },
  refusals: {
    provenance: 'constructed',
    source: `${types}.TransactionWrapper for a call; the texts are ours`,
    proves: ['a constant call that failed is no answer'],
    body: {
      call: { result: { code: 'OTHER_ERROR', message: 'no such function here' } },
      path: (path: string) => ({ Error: `no such call ${path}` }),
    },
  },
} satisfies Readonly<Record<string, StoredBody>>
