import type { StoredBody } from '@causeway/localnet/standIns/bodies'

const gotronReceipts =
  'sxwebdev/gotron, tests of package client: answers of a java-tron 4.8.2 private network, verbatim'

/** `gettransactioninfobyid` of a token transfer. */
export const infoWithLog: StoredBody = {
  provenance: 'recorded',
  source: gotronReceipts,
  proves: [
    'a log names its contract without the prefix byte',
    'a call that succeeded has SUCCESS in its receipt',
  ],
  body: {
    id: '0ca17a0da65cb2df52be4e5edd8654358f7ad2b6f083180e719784ff8ff1c8ae',
    fee: 2_965_000,
    blockNumber: 156,
    blockTimeStamp: 1_790_865_477_000,
    contractResult: ['0000000000000000000000000000000000000000000000000000000000000000'],
    contract_address: '41d53adb8bb7b45de60d0dc3d03ba0c187093b919d',
    receipt: { energy_fee: 2_965_000, energy_usage_total: 29_650, net_usage: 345, result: 'SUCCESS' },
    log: [
      {
        address: 'd53adb8bb7b45de60d0dc3d03ba0c187093b919d',
        topics: [
          'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
          '0000000000000000000000007e5f4552091a69125d5dfcb7b8c2659029395bdf',
          '000000000000000000000000dcf2957055e8fcde477a077ecfeddf5ab2357547',
        ],
        data: '00000000000000000000000000000000000000000000000000000000000f4240',
      },
    ],
  },
}

/** `gettransactioninfobyid` of a call that pays one sun inside. */
export const infoWithInternal: StoredBody = {
  provenance: 'recorded',
  source: gotronReceipts,
  proves: ['an inner call that pays TRX names payee and sun'],
  body: {
    id: '7c44d197b2dcdc7452663f1d7fab7636e06aeb29393f7cd32074a39dde9d4139',
    fee: 676_100,
    blockNumber: 158,
    blockTimeStamp: 1_790_865_489_000,
    contractResult: [''],
    contract_address: '41a4de5410785ffffc7c210f126f7534d868c2ecc9',
    receipt: { energy_fee: 676_100, energy_usage_total: 6_761, net_usage: 279, result: 'SUCCESS' },
    internal_transactions: [
      {
        hash: '1227752b70cbd45384e9276bddf4ed3e165c83f938a4282d734bf0458f8aee8d',
        caller_address: '41a4de5410785ffffc7c210f126f7534d868c2ecc9',
        transferTo_address: '41dcf2957055e8fcde477a077ecfeddf5ab2357547',
        callValueInfo: [{ callValue: 1 }],
        note: '63616c6c',
      },
    ],
  },
}

/** A transaction of another kind than a transfer or a call, inside a block. */
export const otherTransaction: StoredBody = {
  provenance: 'recorded',
  source: gotronReceipts,
  proves: ['a transaction of another kind pays nobody'],
  body: {
    ret: [{ contractRet: 'SUCCESS' }],
    txID: 'db8667ffea27109131fd5c113abcadd535c896590814a50dbf9eda253a8d19da',
    raw_data_hex:
      '0a0200a42208b0ef6ad98a02403e40b8e1e8d38f345a57083b12530a38747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e43616e63656c416c6c556e667265657a655632436f6e747261637412170a1541dcf2957055e8fcde477a077ecfeddf5ab235754770a1899cbf8f34',
  },
}

/** `gettransactionbyid` of a token transfer on the Nile network. */
export const tokenTransfer: StoredBody = {
  provenance: 'recorded',
  source: 'fbsobreira/gotron-sdk, tests of transaction JSON: captured from the HTTP API of Nile',
  proves: ['a transaction is what the bytes behind its id say'],
  body: {
    ret: [{ contractRet: 'SUCCESS' }],
    signature: [
      '1788bf0281f67c42f5a09322523edee9969e808a863776f21ab6543de9dd42ca0e4955577879df8074086c620eb96709ba9a95d60a166de190a081e8d69801da00',
    ],
    txID: 'c70b20da8cb8d96a99c1aceb283412acb9dea313a9e467178431a3c6ae8b9f08',
    raw_data_hex:
      '0a028ad92208eaef69105495eb1540f09fc0cfcd335aae01081f12a9010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412740a1541495511a493d8c362be4267224e6d81013a6862ee121541eca9bc828a3005b9a3b909f2cc5c2a54794de05f2244a9059cbb00000000000000000000004150125bea243a640bf85348873b6c4f3c517aee7a00000000000000000000000000000000000000000000000000000000000000017090cbbccfcd33900180c2d72f',
  },
}

/** `getblock` without transactions, on the Nile network. */
export const header: StoredBody = {
  provenance: 'recorded',
  source: 'tronprotocol/documentation-en, docs/api/http/block-and-tx-query/getblock.md',
  proves: ['a block has its time in milliseconds and its id as hash'],
  body: {
    blockID: '0000000003fe262d52bfa4b2814f816fd2e57af5b98a33d60d8630a03a908e0e',
    block_header: {
      raw_data: {
        number: 66_987_565,
        txTrieRoot: 'faf8fe3858339ead25cc892461c82a59b84dca4a51c45b026676bf3f45a352a2',
        witness_address: '41b2f713d57dbcec679d93a8849fa0cd0e4db594ba',
        parentHash: '0000000003fe262c85cd6b02033f4c3e5c1efa35de256a17bd906dc61fb1aeed',
        version: 34,
        timestamp: 1_777_445_121_000,
      },
      witness_signature:
        '5b3cf6cb15d52947989f7726f4907a144b39ccd667a1a0f98707b40cdfe65b96173ddf34ae8dcc5e78f136e0cf903a15c7128984aa2191f02333209d1879d3f900',
    },
  },
}

/** Two of the four infos of that block. */
export const blockInfos: StoredBody = {
  provenance: 'specified',
  source: 'tronprotocol/documentation-en, docs/api/http/block-and-tx-query/gettransactioninfobyblocknum.md',
  proves: ['a transfer of TRX has no result and succeeded'],
  body: [
    {
      id: 'ff44a2823a870c12f12a4ca6e7647650356bc2bb5e02c5855312cf2db4c950c1',
      fee: 267_000,
      blockNumber: 66_987_565,
      blockTimeStamp: 1_777_445_121_000,
      contractResult: [''],
      receipt: { net_fee: 267_000 },
    },
    {
      id: '0419405287081aa44f4d78725e6fabac8d14e71abf9e28825ad4f4e61a5bccb7',
      fee: 267_000,
      blockNumber: 66_987_565,
      blockTimeStamp: 1_777_445_121_000,
      contractResult: [''],
      receipt: { net_fee: 267_000 },
    },
  ],
}

/** `triggerconstantcontract` of a token's balance, on the Nile network. */
export const constantCall: StoredBody = {
  provenance: 'recorded',
  source: 'tronprotocol/documentation-en, docs/api/http/smart-contract/triggerconstantcontract.md',
  proves: ['a constant call answers words of 32 bytes'],
  body: {
    result: { result: true },
    energy_used: 935,
    constant_result: ['0000000000000000000000000000000000000000000000000000000040cfcc00'],
    transaction: {
      ret: [{}],
      visible: false,
      txID: 'cff6488e738ce77f7325572fe0aa2470f87dbf1c95eeeb2c25feec59d5afa35c',
      raw_data_hex:
        '0a0228c022089eabbe133123b34c40d0d6f0c0dd335a8e01081f1289010a31747970652e676f6f676c65617069732e636f6d2f70726f746f636f6c2e54726967676572536d617274436f6e747261637412540a1541dd791d6b49e190062d650e6a23c575510d35f2f9121541eca9bc828a3005b9a3b909f2cc5c2a54794de05f222470a08231000000000000000000000000dd791d6b49e190062d650e6a23c575510d35f2f970cb97edc0dd33',
    },
  },
}

/** `getcontract` of a token on the Nile network, bytecode and ABI cut. */
export const contract: StoredBody = {
  provenance: 'specified',
  source: 'tronprotocol/documentation-en, docs/api/http/smart-contract/getcontract.md',
  proves: ['a contract is there when it has code'],
  body: {
    origin_address: '4165fa68800fff5a10346d1a3aa1fb2ce92f2e2971',
    contract_address: '41eca9bc828a3005b9a3b909f2cc5c2a54794de05f',
    bytecode: '60806040526000600260146101000a81548160ff021916908315150217905550',
    name: 'TetherToken',
  },
}

/** `gettransactioninfobyid` of the token transfer, had it ended in another way. */
export const outcome: StoredBody<(result: unknown, receipt: unknown) => unknown> = {
  provenance: 'constructed',
  source: 'the recorded info of a token transfer; results as the protocol buffers of java-tron name them',
  proves: [
    'a receipt with DEFAULT, or without a result, is a success',
    'FAILED beside a successful receipt is a failure',
    'every result but SUCCESS and DEFAULT is a failure, known or not',
  ],
  body: (result, receipt) => ({ ...Object(infoWithLog.body), result, receipt }),
}

/** `gettransactioninfobyid` of the token transfer, had it made one inner call. */
export const infoWithCall: StoredBody<(change: object) => unknown> = {
  provenance: 'constructed',
  source: 'the recorded info of a token transfer; members of inner calls as the recorded one has them',
  proves: [
    'a rejected inner call pays nobody',
    'an inner call of no value pays nobody',
    'an inner payment of a TRC-10 token pays no TRX',
  ],
  body(change) {
    const [caller_address, to] = [`41${'db'.repeat(20)}`, `41${'dc'.repeat(20)}`]
    const call = { caller_address, transferTo_address: to, callValueInfo: [{ callValue: 5 }], ...change }
    return { ...Object(infoWithLog.body), internal_transactions: [call] }
  },
}
