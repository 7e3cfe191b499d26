import type { StoredBody } from '../bodies/index.ts'
import {
  renderAccount,
  renderBlock,
  renderConstant,
  renderInfo,
  renderTaken,
  renderTransaction,
  renderUnsigned,
} from './renderBodies.ts'

const types = 'tronweb 6.5.1, Types'

/** Bodies that the facade answers. Those that real nodes sent are stored beside the tests of the reader. */
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
  contractInfo: {
    provenance: 'specified',
    source: 'tronprotocol/documentation-en, docs/api/http/smart-contract/getcontractinfo.md',
    proves: ['the code that runs at an address is told beside its contract'],
    body: (address: unknown, code: string) => ({
      smart_contract: { contract_address: address },
      runtimecode: code,
      contract_state: {},
    }),
  },
  account: {
    provenance: 'specified',
    source: `${types}.Account`,
    proves: ['an account has its coin as a number of sun'],
    body: renderAccount,
  },
  resources: {
    provenance: 'specified',
    source: `${types}.AccountResourceMessage`,
    proves: ['an account without staked energy has no member for it'],
    // One unit counts as used, so that a client that does not subtract used energy is noticed.
    body: (energy: number) => ({
      freeNetLimit: 600,
      ...(energy > 0 && { EnergyLimit: energy, EnergyUsed: 1 }),
    }),
  },
  parameters: {
    provenance: 'specified',
    source: `${types}.ChainParameter`,
    proves: ['prices of energy and bytes are parameters of the chain'],
    body: (prices: { readonly sunPerEnergy: number; readonly sunPerByte: number }) => ({
      chainParameter: [
        { key: 'getTransactionFee', value: prices.sunPerByte },
        { key: 'getCreateNewAccountFeeInSystemContract', value: 1_000_000 },
        { key: 'getAllowMultiSign', value: 1 },
        { key: 'getChangeDelegation' },
        { key: 'getEnergyFee', value: prices.sunPerEnergy },
        { key: 'getMemoFee', value: 1_000_000 },
      ],
    }),
  },
  unsigned: {
    provenance: 'specified',
    source: `${types}.TransactionWrapper`,
    proves: ['a node makes a transaction of a call, which whoever calls signs'],
    body: renderUnsigned,
  },
  taken: {
    provenance: 'specified',
    source: `${types}.BroadcastHexReturn`,
    proves: ['a transaction that a node takes is named by its id'],
    body: renderTaken,
  },
  missing: {
    provenance: 'constructed',
    source: 'what public clients take for an unknown id',
    proves: ['{} means that there is no such thing'],
    body: {},
  },
  refusals: {
    provenance: 'constructed',
    source: `${types}.TransactionWrapper for a call, .BroadcastHexReturn for a broadcast; the texts are ours`,
    proves: [
      'a constant call that failed is no answer',
      'a node names by a code why it takes no transaction',
    ],
    body: {
      call: (message: string) => ({ result: { code: 'CONTRACT_VALIDATE_ERROR', message } }),
      broadcast: (code: string, txid: string) => ({
        code,
        txid,
        message: Buffer.from(code).toString('hex'),
      }),
      path: (path: string) => ({ Error: `no such call ${path}` }),
    },
  },
} satisfies Readonly<Record<string, StoredBody>>
