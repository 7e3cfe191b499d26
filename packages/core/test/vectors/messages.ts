import type {
  DepositMessage,
  FillMessage,
  RefundMessage,
  WithdrawalMessage,
} from '../../src/attestation/messages.ts'
import type { Hex } from '../../src/hex.ts'
import type { Execution, WithdrawRequest } from '../../src/signatures/execution.ts'
import {
  orderB,
  orderBId,
  orderBSignature,
  repeated,
  solanaDepository,
  solanaOwner,
  solanaUsdc,
} from './orders.ts'

/** Key of the oracle in the vectors. */
export const oracleKey = repeated('11', 32)

const depository: Hex = '0x4cd00e387622c35bddb9b4c962c136462338bc31'
const onchainId: Hex = '0xd16f7f4f46f9cf8c7e42b371e81a4867d79e7a3572db9949b95a50babcf3137c'

export const ethereumDeposit: DepositMessage = {
  data: { chainId: 'ethereum', transactionId: repeated('aa', 32) },
  result: {
    onchainId,
    depository,
    depositId: orderBId,
    depositor: repeated('11', 20),
    currency: repeated('00', 20),
    amount: '1000000000000000000',
  },
}
export const ethereumDepositId: Hex = '0x0e15abd54a8671424a2807a05ada7d3728fec2b9a7529d405f3304ad5f454de3'

export const solanaDeposit: DepositMessage = {
  data: {
    chainId: 'solana',
    transactionId: '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
  },
  result: {
    onchainId: '0xcf86ce070a961e9da97d7cbac61fb83c2ccc58f75aad959d94f170d975b2a39a',
    depository: solanaDepository,
    depositId: orderBId,
    depositor: solanaOwner,
    currency: solanaUsdc,
    amount: '1000000',
  },
}

/** @param withdrawal the encoded call of 1000 wei to `0x22…22`, nonce 5, expiring at 1800000000 */
export function ethereumWithdrawal(withdrawal: Hex, status: number): WithdrawalMessage {
  return {
    data: { chainId: 'ethereum', withdrawal },
    result: {
      withdrawalId: '0x42600e31bfa4e2d638f483dd2b087d53328733fceb578fac6db1928b6ce95fcc',
      depository,
      status,
    },
  }
}

const inputs = [{ transactionId: repeated('aa', 32), onchainId, inputIndex: 0 }]

export function fillOfOrderB(bpsDiff: string): FillMessage {
  return {
    data: {
      order: orderB,
      orderSignature: orderBSignature,
      inputs,
      fill: { transactionId: repeated('cc', 32) },
    },
    result: { orderId: orderBId, status: 1, totalWeightedInputPaymentBpsDiff: bpsDiff },
  }
}

export const refundOfOrderB: RefundMessage = {
  data: {
    order: orderB,
    orderSignature: orderBSignature,
    inputs,
    refunds: [{ transactionId: repeated('dd', 32), inputIndex: 0, refundIndex: 0 }],
  },
  result: { orderId: orderBId, status: 1, totalWeightedInputPaymentBpsDiff: '0' },
}

export const hubDomain = {
  chainId: 537713,
  verifyingContract: '0x795f9464ee05a34fe1e18925ca4e4753dcd60058',
  version: '2',
} as const

const nativeToken = 'a7834a7b349a34e2a18eb597251edf52aba8e3aea24d7021dc1c76cc7a857ab7'
const word = (digits: string) => digits.padStart(64, '0')
const orderAddress = '48dd97456ea2aed0520f5386f4146f867c61e565'
const solverAlias = '37af10adbc4864042698b5735132a3c8c2b146bf'
const feeAlias = '2c12d14316d555abf9eb1f0ce64444855341a002'

export const depositExecution: Execution = {
  idempotencyKey: '0x92f8ee69568e8b3d16a91449326ae6ff4b1f1cd5d4993b05dcd562b9b8d1b74d',
  actions: [`0x${word('0')}${word(orderAddress)}${nativeToken}${word('de0b6b3a7640000')}`],
}

export const fillExecution: Execution = {
  idempotencyKey: '0xa2f3d1e522b0847b01d7e9a614ae5f780247b6f0a4371162eaf4e4fd7c0b1903',
  actions: [
    `0x${word('2')}${word(orderAddress)}${word(solverAlias)}${nativeToken}${word('de0b6b3a7640000')}`,
    `0x${word('2')}${word(solverAlias)}${word(feeAlias)}${nativeToken}${word('38d7ea4c68000')}`,
  ],
}

export const withdrawRequest: WithdrawRequest = {
  chainId: 2741n,
  depository: '0x5cb1de3603a71ac2f67b12bfbf095013fe4ac299',
  currency: repeated('00', 20),
  amount: 1688875045157513n,
  spender: '0xFD3E80587416B94Ef6D9394b323d8E47699d073E',
  recipient: '0xfd073a9ccb34f8a13c466eb16dff990d6178a5ef',
  data: '0x',
  nonce: '0x9400f1b21cb527d7fa3d3eabba93557a18ebe7a2ca4e471cfe5e4c5b4ca7f767',
}
export const allocatorDomain = {
  chainId: 1313161554,
  verifyingContract: '0x797e3E92dC5b16816EcA3ecbE51A1C494E477C70',
} as const
