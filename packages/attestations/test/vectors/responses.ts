import {
  allocatorDomain,
  depositExecution,
  ethereumDeposit,
  fillExecution,
  fillOfOrderB,
  hubDomain,
  refundOfOrderB,
  withdrawRequest,
} from '../../../core/test/vectors/messages.ts'
import { networkOf, repeated } from '../../../core/test/vectors/orders.ts'
import type { SignatureContext } from '../../src/responses/signatureArrays.ts'

export const sampleContext: SignatureContext = {
  hub: {
    executionDomain: hubDomain,
    withdrawRequestDomain: allocatorDomain,
    mappingDomain: { chainId: hubDomain.chainId, verifyingContract: repeated('bb', 20) },
  },
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
  recovery: {
    execution: {
      // Key of the published deposit of order B.
      idempotencyKey: '0x1fc799e73956f4cdd10f83ad6b7b1babf9a40adab02f412f1f6da60a05d96e10',
      actions: fillExecution.actions.slice(0, 1),
      signatures: [],
    },
  },
  'nonce-mapping': {
    genericMapping: {
      user: '0x3cb94b0d5214c41de8e3b674d73ab430a039a5d4',
      id: '0x44ec8783eee06c285b5fb4d7d8f3c2e92e60213d81f4be35610a86532b71d222',
      data: '0x3066f8a2439e215c99a81077465f375dd7cbf90eb2d7c24b91e2bf1be7b595a42222222222222222222222222222222222222222',
      nonce: '0x53f6c4e6be01df994f4116823da7e3d79216e0ea94db7414284a7a98c8290bd7',
      signatures: [],
    },
  },
  'no-fill-or-refund': {
    genericMapping: {
      user: '0x37af10adbc4864042698b5735132a3c8c2b146bf',
      id: '0xdd0970e29b4680229a8d3ba6d9d937f78751b498f4bc20358a8b4087672164c0',
      data: '0x01',
      nonce: '0xe4dddd8882c133ceb8ddb4fb6c5beb6e908560407a5daa7557cb31d6e14754f6',
      signatures: [],
    },
  },
} as const
