import type { SignatureContext } from '../../src/attestation/responses/signatureArrays.ts'
import {
  allocatorDomain,
  depositExecution,
  ethereumDeposit,
  fillExecution,
  fillOfOrderB,
  hubDomain,
  refundOfOrderB,
  withdrawRequest,
} from './messages.ts'
import { networkOf, repeated } from './orders.ts'

export const sampleContext: SignatureContext = {
  hub: { executionDomain: hubDomain, withdrawRequestDomain: allocatorDomain },
  networkOf,
}

const depository = '0x4cd00e387622c35bddb9b4c962c136462338bc31'
const hubTokenId = '75768216729734233842356022798368373679005098618301361336704166989654078618295'

/** One unsigned response of every route, in the protocol's own vectors where it has them. */
export const sampleResponses = {
  deposits: {
    messages: [{ ...ethereumDeposit, extraData: { timestamp: '1700000000' }, signatures: [] }],
    execution: {
      ...depositExecution,
      metadata: [
        {
          hubTokenId,
          origin: { address: repeated('00', 20), chainId: 'ethereum', family: 'ethereum-vm' },
          oracleChainId: String(hubDomain.chainId),
          oracleContract: hubDomain.verifyingContract,
        },
      ],
      signatures: [],
    },
  },
  withdrawals: {
    message: {
      data: { chainId: 'ethereum', withdrawal: '0x1234' },
      result: { withdrawalId: repeated('42', 32), depository, status: 1 },
      signatures: [],
    },
    execution: { ...depositExecution, signatures: [] },
  },
  fills: {
    message: { ...fillOfOrderB('0'), signatures: [] },
    execution: { ...fillExecution, signatures: [] },
  },
  refunds: {
    message: { ...refundOfOrderB, signatures: [] },
    execution: { ...fillExecution, signatures: [] },
  },
  'withdrawal-initiation': {
    withdrawalAddress: '0x0058aafbf2fb0f044f7879fba7c8a7ef5bc90bfd',
    execution: { ...depositExecution, signatures: [] },
  },
  'withdrawal-initiated': {
    payloadParams: {
      ...withdrawRequest,
      chainId: String(withdrawRequest.chainId),
      amount: String(withdrawRequest.amount),
      signatures: [],
    },
  },
} as const
