import type { EquivalentsByFile } from '../score.ts'

const noHolding = 'these ways add no holding'
const firstFunction = 'without a name the first function is meant'
const noAccount = 'it is no account'
const sizedAgain = 'the size is counted again, alike'
const preparedAgain = 'it is prepared again, alike'
const oneFunction = 'viem has left one function in the list'
const allGroups = 'the pattern has all of its groups or none'

/** Changes that alter nothing in packages/families. */
export const familiesEquivalents: EquivalentsByFile = {
  'packages/families/src/bitcoin/rules/paying/lineTransaction.ts': [
    ["throw new Error('a key has an address')", ';', 'a key has one'],
    ['keyScript === undefined', 'false', 'a key has one'],
    ["throw new Error('a key has a script')", ';', 'a key has one'],
    ['{ lowS: true }', '{}', 'it is what the library does by itself'],
  ],
  'packages/families/src/bitcoin/rules/quoting/bitcoinFees.ts': [
    ['{ return undefined }', '{}', 'it is undefined either way'],
  ],
  'packages/families/src/bitcoin/rules/quoting/bitcoinQuoting.ts': [
    ['[]', '["Stryker was here"]', 'what is unsigned is written without witnesses', 'witness: [],'],
  ],
  'packages/families/src/bitcoin/rules/quoting/fundTransaction.ts': [
    ['one.value > other.value', 'one.value >= other.value', 'they differ, as was seen'],
    ['one.txid < other.txid', 'one.txid <= other.txid', 'they differ, as was seen'],
  ],
  'packages/families/src/bitcoin/rules/quoting/ownerKey.ts': [
    ['error instanceof Error', 'true', 'the library throws nothing else'],
  ],
  'packages/families/src/ethereum/rules/abi.ts': [
    ["'approve'", '""', firstFunction],
    ["'depositNative'", '""', firstFunction],
    ["'deposit'", '""', firstFunction],
  ],
  'packages/families/src/ethereum/rules/abiWordTypes.ts': [
    ["''", '"Stryker was here!"', allGroups],
    ['/^(uint|int|bytes)(\\d+)$/', '/(uint|int|bytes)(\\d+)$/', 'no other type of Solidity ends so'],
    ['[]', '["Stryker was here"]', allGroups],
    ["'0'", '""', 'padding writes the zero', "return (value ? '1' : '0').padStart(wordDigits, '0')"],
  ],
  'packages/families/src/ethereum/rules/contractInterface.ts': [
    ['cached !== undefined', 'false', preparedAgain],
    ['prepared.set(name, preparedFunction)', ';', preparedAgain],
    ["abiFunction?.type !== 'function'", 'false', oneFunction],
    ['abiFunction?.type', 'abiFunction.type', oneFunction],
    ['{ taken: undefined, returned: undefined }', '{}', oneFunction],
  ],
  'packages/families/src/ethereum/rules/permit2.ts': [["'permit2TransferAndMulticall'", '""', firstFunction]],
  'packages/families/src/ethereum/rules/quoting/ethereumFees.ts': [
    ['a === b', 'false', 'the shapes are then compared one by one'],
  ],
  'packages/families/src/ethereum/rules/quoting/neededApproval.ts': [
    ['allowance !== undefined', 'true', 'undefined is above no number'],
  ],
  'packages/families/src/ethereum/rules/quoting/stateWrites.ts': [
    ["'unwrap'", '""', noHolding, "case 'unwrap':"],
    ["'pay-address'", '""', noHolding, "case 'pay-address':"],
    ["'signature'", '""', noHolding, "case 'signature':"],
    ["'permit2'", '""', noHolding, "case 'permit2':"],
    ["case 'permit2': break", "case 'permit2':", noHolding],
  ],
  'packages/families/src/ethereum/rules/quoting/swapCalls.ts': [
    [
      "'exactInput'",
      '""',
      firstFunction,
      "return pathRouter.encode('exactInput', [{ path, amountIn, amountOutMinimum: amountOut, ...shared }])",
    ],
    ["'exactInputSingle'", '""', firstFunction],
    ["'swapAndDeposit'", '""', firstFunction],
  ],
  'packages/families/src/ethereum/rules/topUps/classifyTopUps.ts': [
    [
      'judgement === undefined',
      'false',
      'each log has a judgement',
      'if (judgement === undefined || !movesMoney(log, target)) return []',
    ],
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      '{ custody, isTaggedOnly = false, ownAccounts = [] }: TopUpTarget,',
    ],
    [
      'judgement !== undefined',
      'true',
      'the labelled log has a judgement',
      "index === labelledIndex && judgement !== undefined ? judgement : suspendedJudgement('indirect'),",
    ],
  ],
  'packages/families/src/ethereum/rules/topUps/owner.ts': [['[]', '["Stryker was here"]', noAccount]],
  'packages/families/src/ethereum/rules/topUps/tail.ts': [
    ["'named'", '""', 'the two other kinds are told apart'],
  ],
  'packages/families/src/ethereum/rules/topUps/tokenCall.ts': [
    ["'transfer'", '""', 'the other kind is told apart'],
  ],
  'packages/families/src/ethereum/rules/topUps/transferLogs.ts': [
    ['from === undefined', 'false', 'there are three topics, as was seen'],
  ],
  'packages/families/src/ethereum/rules/withdrawalTransfer.ts': [
    ['[]', '["Stryker was here"]', allGroups],
    [
      'recipient === undefined || amount === undefined',
      'recipient === undefined && amount === undefined',
      allGroups,
    ],
    ['recipient === undefined', 'false', allGroups],
    ['amount === undefined', 'false', allGroups],
  ],
  'packages/families/src/rules/flatFees.ts': [['{ return undefined }', '{}', 'it is undefined either way']],
  'packages/families/src/rules/payeeRule.ts': [
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      '...[listed.depository, ...(listed.additionalDepositories ?? [])].map(',
    ],
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      "...(listed.fillContracts ?? []).map((contract) => [contract, 'a fill contract'] as const),",
    ],
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      "...(uniswapV3?.pools ?? []).map(({ address }) => [address, 'a pool'] as const),",
    ],
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      "...(listed.fillPayers ?? []).map((payer) => [payer, 'a wallet that pays orders'] as const),",
    ],
    [
      '[]',
      '["Stryker was here"]',
      noAccount,
      "account === undefined || account === '' ? [] : [[account, label] as const],",
    ],
    ['account === undefined', 'false', 'what has no spelling is left out later'],
  ],
  'packages/families/src/rules/withdrawRequestParts.ts': [
    ['parsed.error.issues[0]?.path', 'parsed.error.issues[0].path', 'a refusal has an issue'],
    ["''", '"Stryker was here!"', 'a refusal has an issue'],
  ],
  'packages/families/src/solana/rules/library.ts': [
    ['loaded !== undefined', 'false', 'Node keeps what it loaded too'],
  ],
  'packages/families/src/solana/rules/paying/paymentMarker.ts': [
    ['default: return undefined', 'default:', 'nothing is returned either way'],
  ],
  'packages/families/src/solana/rules/quoting/transactionSize.ts': [
    ['cached !== undefined', 'false', sizedAgain],
    ['knownBytes.size >= knownBytesMax', 'true', sizedAgain],
    ['knownBytes.size >= knownBytesMax', 'false', sizedAgain],
    ['knownBytes.size >= knownBytesMax', 'knownBytes.size > knownBytesMax', sizedAgain],
    ['knownBytes.size >= knownBytesMax', 'knownBytes.size < knownBytesMax', sizedAgain],
    ['knownBytes.clear()', ';', sizedAgain],
    ['knownBytes.set(form, bytes)', ';', sizedAgain],
  ],
  'packages/families/src/solana/rules/withdrawal.ts': [
    ['tag === undefined', 'false', 'so few bytes have no length of a request'],
  ],
  'packages/families/src/tron/rules/paying/fillCalls.ts': [
    ["'pay'", '""', firstFunction],
    ["'approve'", '""', firstFunction],
  ],
}
