// One fixed deposit, payment and withdrawal of every family, as its reader would tell them.
import { derivedHubChainId, type Hex } from '@causeway/core'
import { bitcoinMainnet, type VmType } from '@causeway/core/encodings'
import {
  encodeBitcoinPayload,
  encodeEvmWithdrawal,
  encodeHyperliquidWithdrawal,
  encodeLighterWithdrawal,
  encodeSolanaWithdrawal,
  outputScript,
  payloadWithdrawal,
} from '@causeway/families/rules'
import {
  bitcoinNative,
  repeated,
  solanaDepository,
  solanaOwner,
  solanaUsdc,
  tronNative,
} from '../../../packages/core/test/vectors/orders.ts'

export type FamilyFacts = {
  readonly chainId: string
  readonly vmType: VmType
  readonly hubChainId: string
  readonly depository: string
  readonly currency: string
  /** Depositor and recipient. */
  readonly account: string
  readonly recipient: string
  /** Transactions of the deposit, the fill, the refund and the withdrawal. */
  readonly transactions: readonly [string, string, string, string]
  readonly withdrawal: Hex
  /** Payload that the allocator issues for the withdrawal. */
  readonly payload: Hex
  /** Amount of the withdrawal, in smallest units. */
  readonly withdrawn: bigint
  /** Additional data of a withdrawal request in this family; the owner signs it. */
  readonly additionalData?: Readonly<Record<string, object>>
}

const evmNative = repeated('00', 20)
const bytes = ['a1', 'a2', 'a3', 'a4'] as const
const [hexIds, plainIds] = [bytes.map((byte) => repeated(byte, 32)), bytes.map((byte) => byte.repeat(32))]
const four = (ids: readonly string[]): FamilyFacts['transactions'] => {
  const [deposit = '', fill = '', refund = '', withdrawal = ''] = ids
  return [deposit, fill, refund, withdrawal]
}
const evmRecipient = repeated('22', 20)
const evmWithdrawal = encodeEvmWithdrawal({
  calls: [{ to: evmRecipient, data: '0x', value: 1_000n, allowFailure: false }],
  nonce: 5n,
  expiration: 1_800_000_000n,
})
const solanaIds = [1, 2, 3, 4].map((count) => `${'1'.repeat(63)}${count + 1}`)
const solanaWithdrawal = encodeSolanaWithdrawal({
  domain: repeated('01', 32),
  recipient: solanaOwner,
  token: solanaUsdc,
  amount: 1_000n,
  nonce: 7n,
  expiration: 1_800_000_000n,
  vaultAddress: solanaDepository,
})
const bitcoinDepository = 'bc1qzmtn0q92ayejt2hpffvlktcpmyy7vvsd06sefu'
const bitcoinRecipient = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq'
const bitcoinScript = (address: string) => outputScript(address, bitcoinMainnet)
const bitcoinPayload = encodeBitcoinPayload({
  inputs: [
    {
      txid: `ab01${'11'.repeat(30)}`,
      vout: 0,
      spent: { value: 100_000n, script: bitcoinScript(bitcoinDepository) },
    },
  ],
  outputs: [
    { value: 58_870n, script: bitcoinScript(bitcoinRecipient) },
    { value: 40_000n, script: bitcoinScript(bitcoinDepository) },
  ],
})
const hyperliquidUsdc = '0x6d1e7cde53ba9467b783cb7c530ce054'
const hyperliquidWithdrawal = encodeHyperliquidWithdrawal({
  type: 'SendAsset',
  hyperliquidChain: 'Mainnet',
  destination: evmRecipient,
  sourceDex: 'spot',
  destinationDex: 'spot',
  token: `USDC:${hyperliquidUsdc}`,
  amount: '0.00001',
  fromSubAccount: '',
  nonce: 1_700_000_000_000n,
})
const lighterWithdrawal = encodeLighterWithdrawal({
  nonce: 1n,
  fromAccountIndex: 460_491n,
  fromRouteType: 0n,
  apiKeyIndex: 4n,
  toAccountIndex: 462_196n,
  toRouteType: 0n,
  assetIndex: 3n,
  amount: 1_000n,
  usdcFee: 0n,
  lighterChainId: 304n,
  memo: repeated('00', 32),
})

export const families: readonly FamilyFacts[] = [
  {
    chainId: 'ethereum',
    vmType: 'ethereum-vm',
    hubChainId: '1',
    currency: evmNative,
    depository: repeated('d0', 20),
    account: repeated('11', 20),
    recipient: evmRecipient,
    transactions: four(hexIds),
    withdrawal: evmWithdrawal,
    payload: evmWithdrawal,
    withdrawn: 1_000n,
  },
  {
    chainId: 'solana',
    vmType: 'solana-vm',
    hubChainId: derivedHubChainId('solana').toString(),
    depository: solanaDepository,
    currency: solanaUsdc,
    account: solanaOwner,
    recipient: solanaOwner,
    transactions: four(solanaIds),
    withdrawal: solanaWithdrawal,
    payload: solanaWithdrawal,
    withdrawn: 1_000n,
  },
  {
    chainId: 'bitcoin',
    vmType: 'bitcoin-vm',
    hubChainId: derivedHubChainId('bitcoin').toString(),
    depository: bitcoinDepository,
    currency: bitcoinNative,
    recipient: bitcoinRecipient,
    account: '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa',
    transactions: four(plainIds),
    withdrawal: payloadWithdrawal('bitcoin-vm', bitcoinPayload),
    payload: bitcoinPayload,
    withdrawn: 60_000n,
    additionalData: {
      'bitcoin-vm': {
        allocatorUtxos: [{ txid: `ab01${'11'.repeat(30)}`, vout: 0, value: '100000' }],
        feeRate: '5',
      },
    },
  },
  {
    chainId: 'tron',
    vmType: 'tron-vm',
    hubChainId: '728126428',
    currency: tronNative,
    depository: 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN',
    account: 'TFiX55MVcQComZKc4bt7GrcCEHA9oYRCka',
    recipient: 'TBEWjMKhGMCQvcWdvQhnMLdQmRXi6kaGLV',
    transactions: four(plainIds),
    withdrawal: evmWithdrawal,
    payload: evmWithdrawal,
    withdrawn: 1_000n,
  },
  {
    chainId: 'hyperliquid',
    vmType: 'hyperliquid-vm',
    currency: hyperliquidUsdc,
    hubChainId: derivedHubChainId('hyperliquid').toString(),
    depository: repeated('d4', 20),
    account: repeated('11', 20),
    recipient: evmRecipient,
    transactions: four(hexIds),
    withdrawal: hyperliquidWithdrawal,
    payload: hyperliquidWithdrawal,
    withdrawn: 1_000n,
    additionalData: {
      'hyperliquid-vm': { currencyHyperliquidSymbol: 'USDC', currentTime: '1700000000000' },
    },
  },
  {
    chainId: 'lighter',
    vmType: 'lighter-vm',
    hubChainId: derivedHubChainId('lighter').toString(),
    depository: '460491',
    currency: '0',
    account: '630347903',
    recipient: '462196',
    transactions: four(bytes.map((byte) => byte.repeat(40))),
    withdrawal: lighterWithdrawal,
    payload: lighterWithdrawal,
    withdrawn: 1_000n,
    additionalData: {
      'lighter-vm': {
        nonce: '1',
        fromRouteType: '0',
        toRouteType: '0',
        apiKeyIndex: '4',
        usdcFee: '0',
        assetIndex: '3',
        memo: '00'.repeat(32),
      },
    },
  },
]
