// Goal: the builder of every family turns a request into the bytes of the public protocol, and says what is
// signed for them as `core` does; what a family cannot pay, or would pay otherwise than asked, has no payload.
// Method: the contracts on a real node, against the published vectors.
// @source rule P-69

import type { ContractName } from '@causeway/contracts'
import {
  bitcoinPayloadBuilderAbi,
  evmPayloadBuilderAbi,
  hyperliquidPayloadBuilderAbi,
  lighterPayloadBuilderAbi,
  solanaPayloadBuilderAbi,
} from '@causeway/contracts'
import {
  bytesToHex,
  derivedHubChainId,
  type Hex,
  hubAlias,
  keccak256Hex,
  type WithdrawRequest,
  withdrawRequestPayloadId,
} from '@causeway/core'
import { mainNetwork, solanaCodec } from '@causeway/core/encodings'
import {
  decodeEvmWithdrawal,
  decodeHyperliquidWithdrawal,
  decodeLighterWithdrawal,
  decodeSolanaWithdrawal,
  deriveProgramAddresses,
  encodeHyperliquidWithdrawal,
  encodeLighterWithdrawal,
  evmWithdrawalId,
  hyperliquidWithdrawalId,
  lighterWithdrawalId,
  payloadHashes,
  payloadWithdrawal,
  type RequestedWithdrawal,
  solanaWithdrawalId,
  spelledWithdrawRequest,
  withdrawRequestOf,
} from '@causeway/families/rules'
import { type Abi, hexToBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { HubDeployment } from '../src/contracts/deployment.ts'
import {
  familyDepositories,
  solanaDepository,
  solanaVault,
  tronChainId,
} from '../src/families/familyPlans.ts'
import { waitUntilMined } from '../src/nodes/clients.ts'
import { type ContractBench, startHubBench } from './support/contractBench.ts'

let bench: ContractBench<HubDeployment>
beforeAll(async () => {
  bench = await startHubBench()
})
afterAll(() => bench?.stop())

const hyperliquidNative = `0x${'00'.repeat(16)}`
const owner: Hex = `0x${'11'.repeat(20)}`
const recipient: Hex = `0x${'22'.repeat(20)}`
const spender = hubAlias({ chainId: 'ethereum', ...mainNetwork('ethereum-vm') }, owner)
const terms = (money: Pick<RequestedWithdrawal, 'depository' | 'currency' | 'amount' | 'recipient'>) => ({
  ...money,
  spender,
  nonce: 42n,
})

/** A builder of its own, as the vectors have it. */
async function deploy(name: ContractName, abi: Abi, args: readonly unknown[] = []): Promise<Hex> {
  const clients = bench.chain.as(bench.keys.deployer)
  const { bytecode } = bench.artifacts[name]
  const { account } = clients.walletClient
  const hash = await clients.walletClient.deployContract({ abi, bytecode, args, account, chain: null })
  const { contractAddress } = await waitUntilMined(clients, hash, name)
  if (contractAddress == null) throw new Error(`${name} has no address`)
  return contractAddress
}

/** All builders have the same functions. */
const builderAt = (address: Hex) => {
  const contract = { address, abi: evmPayloadBuilderAbi }
  const { client } = bench.chain
  return {
    build({ recipient: receiver, ...rest }: WithdrawRequest, payloadId?: Hex): Promise<Hex> {
      const request = { ...rest, receiver }
      const id = payloadId ?? withdrawRequestPayloadId({ ...rest, recipient: receiver })
      return client.readContract({ ...contract, functionName: 'buildPayload', args: [id, request] })
    },
    hash: (wanted: WithdrawRequest, payload: Hex, index = 0) =>
      client.readContract({
        ...contract,
        functionName: 'hashToSign',
        args: [wanted.chainId, wanted.depository, payload, index],
      }),
  }
}
type Builder = ReturnType<typeof builderAt>
type RequestedChain = Parameters<typeof withdrawRequestOf>[0]

/** The bytes are those of exactly this request, for `core` too, and are signed as `core` says. */
async function expectAgreement(
  builder: Builder,
  chain: RequestedChain,
  asked: { readonly request: WithdrawRequest; readonly money: RequestedWithdrawal; readonly payload: Hex },
): Promise<void> {
  const { request, money, payload } = asked
  expect(withdrawRequestOf(chain, payloadWithdrawal(chain.vmType, payload), money)).toEqual(request)
  const place = { hubChainId: request.chainId, depository: request.depository }
  const hashes = payloadHashes(chain.vmType, payload, place)
  const built = await Promise.all(hashes.map((_hash, index) => builder.hash(request, payload, index)))
  expect(built).toEqual(hashes)
  expect(await builder.hash(request, payload, hashes.length)).toBe(`0x${'00'.repeat(32)}`)
}

describe('the builder for EVM chains', () => {
  const ethereum = { ...mainNetwork('ethereum-vm'), hubChainId: '1' }
  const money = terms({
    depository: '0x4cd00e387622c35bddb9b4c962c136462338bc31',
    currency: '0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48',
    amount: 1_000_000n,
    recipient,
  })

  test('builds request E, but for its nonce and time', async () => {
    const builder = builderAt(bench.deployment.evmPayloadBuilder)
    const request = spelledWithdrawRequest(ethereum, money)
    const payloadId = withdrawRequestPayloadId(request)
    expect(payloadId).toBe('0x582ce6192f69978996c26959b92ff228ef7e7b1e7e40050c34b457d66dd29d94')
    const payload = await builder.build(request)
    const decoded = decodeEvmWithdrawal(payload)
    expect(decoded.nonce).toBe(BigInt(payloadId))
    const time = `0x${1_700_000_000n.toString(16).padStart(64, '0')}` as const
    const published = { nonce: BigInt(keccak256Hex(hexToBytes(time))), expiration: 1_700_864_000n }
    expect(evmWithdrawalId({ ...decoded, ...published })).toBe(
      '0x4db2d4c75585e6653fbf08f0d1b4d6817364c90ab177f097a8d30532623f7365',
    )
    await expectAgreement(builder, ethereum, { request, money, payload })
  })

  test('builds for Tron too, under its own domain', async () => {
    const builder = builderAt(bench.deployment.evmPayloadBuilder)
    const tron = { ...mainNetwork('tron-vm'), hubChainId: tronChainId.toString() }
    const { tron: depository } = familyDepositories(recipient)
    const asked = terms({
      depository,
      currency: 'TXtEs6t2oUWQsNos7m68gbHdE9Q5n6x2oN',
      amount: 7n,
      recipient: 'TEDapYSVvAZ3aYH7w8N9tMEEFKaNKUD5Bp',
    })
    const request = spelledWithdrawRequest(tron, asked)
    const payload = await builder.build(request)
    await expectAgreement(builder, tron, { request, money: asked, payload })
    const onBase = await builder.hash({ ...request, chainId: 8_453n }, payload)
    expect(await builder.hash(request, payload)).not.toBe(onBase)
  })
})

describe('the builder for Solana', () => {
  test('builds the published request, but for its nonce and time', async () => {
    const vault = '99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2'
    const domain = `0x${'01'.repeat(32)}`
    const args = [domain, bytesToHex(solanaCodec.encodeAddress(vault))]
    const builder = builderAt(await deploy('SolanaPayloadBuilder', solanaPayloadBuilderAbi, args))
    const solana = { ...mainNetwork('solana-vm'), hubChainId: derivedHubChainId('solana').toString() }
    const money = terms({
      depository: vault,
      currency: solanaCodec.nativeCurrency,
      amount: 1_000_000n,
      recipient: '7EaP2zkxDLo86x4rnNwwLhB593PsbMva41dqfrfxhsb1',
    })
    const request = spelledWithdrawRequest(solana, money)
    const payload = await builder.build(request)
    const published = { ...decodeSolanaWithdrawal(payload), nonce: 9n, expiration: 1_800_000_000n }
    expect(solanaWithdrawalId(published)).toBe(
      '0xf5cf25d6442e708dfadf73dd609b578a698cc55f2d309bfce1ae47dfef924bf2',
    )
    await expectAgreement(builder, solana, { request, money, payload })
  })

  test('of the local network names the vault that its depository derives', async () => {
    expect(solanaVault).toBe(deriveProgramAddresses(solanaDepository).vault)
    const vault = await bench.chain.client.readContract({
      address: bench.deployment.solanaPayloadBuilder,
      abi: solanaPayloadBuilderAbi,
      functionName: 'VAULT',
    })
    expect(vault).toBe(bytesToHex(solanaCodec.encodeAddress(solanaVault)))
  })
})

test('the builder for Bitcoin builds the published payload', async () => {
  const bitcoin = { ...mainNetwork('bitcoin-vm'), hubChainId: derivedHubChainId('bitcoin').toString() }
  const money = terms({
    depository: 'bc1qzmtn0q92ayejt2hpffvlktcpmyy7vvsd06sefu',
    currency: 'bc1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqmql8k8',
    amount: 60_000n,
    recipient: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  })
  const allocatorUtxos = [{ txid: `ab01${'11'.repeat(30)}`, vout: 0, value: '100000' }]
  const additionalData = { 'bitcoin-vm': { allocatorUtxos, feeRate: '5' } }
  const request = spelledWithdrawRequest(bitcoin, money, additionalData)
  expect(withdrawRequestPayloadId(request)).toBe(
    '0x4a7ac8dfefc07f59866c04ac4c41516312ace7ddb9a945c18478e09a0c364404',
  )
  const builder = builderAt(await deploy('BitcoinPayloadBuilder', bitcoinPayloadBuilderAbi))
  const payload = await builder.build(request)
  expect(keccak256Hex(hexToBytes(payload))).toBe(
    '0x4c6fae7d4731d11b29a3037c54e26b143a230db05bf6c9950a6cea59bec43129',
  )
  await expectAgreement(builder, bitcoin, { request, money, payload })
})

describe('the builder for Hyperliquid', () => {
  const usdc = '0x6d1e7cde53ba9467b783cb7c530ce054'
  const time = 1_761_563_890_702n
  const hyperliquid = {
    ...mainNetwork('hyperliquid-vm'),
    hubChainId: derivedHubChainId('hyperliquid').toString(),
  }
  const asked = (currency: string, amount: bigint) => {
    const money = terms({ depository: owner, currency, amount, recipient })
    const own = { currencyHyperliquidSymbol: 'USDC', currentTime: time.toString() }
    return { money, request: spelledWithdrawRequest(hyperliquid, money, { 'hyperliquid-vm': own }) }
  }
  const own = () => builderAt(bench.deployment.hyperliquidPayloadBuilder)
  const sent = { hyperliquidChain: 'Mainnet', destination: recipient }

  test.each([
    ['100.00000000', 10_000_000_000n],
    ['0.00000001', 1n],
    ['12345678901.00000010', 1_234_567_890_100_000_010n],
  ])('sends %s perps USDC as the exchange writes it', async (amount, units) => {
    const { money, request } = asked(hyperliquidNative, units)
    const payload = await own().build(request)
    expect(payload).toBe(encodeHyperliquidWithdrawal({ type: 'UsdSend', ...sent, amount, time }))
    await expectAgreement(own(), hyperliquid, { request, money, payload })
  })

  test('builds the published sends', async () => {
    const usd = await own().build(asked(hyperliquidNative, 10_000_000_000n).request)
    expect(hyperliquidWithdrawalId(decodeHyperliquidWithdrawal(usd))).toBe(
      '0x8a41106d639fa8146ae34b86dd3853f9de223f6ab362d5662b264cbe010ad3e4',
    )
    const asset = await own().build(asked(usdc, 10_000_000_000n).request)
    expect(hyperliquidWithdrawalId(decodeHyperliquidWithdrawal(asset))).toBe(
      '0xe2687c748f55ad52901e6f2768cfec3bf114f4be527d1856db404289e9a91d55',
    )
  })

  test.each([
    ['spot', usdc],
    ['xyz', `${usdc}${Buffer.from('xyz').toString('hex')}`],
  ])('sends a token of %s within it', async (dex, currency) => {
    const { money, request } = asked(currency, 5_000_000n)
    const payload = await own().build(request)
    const route = { sourceDex: dex, destinationDex: dex, token: `USDC:${usdc}`, fromSubAccount: '' }
    expect(payload).toBe(
      encodeHyperliquidWithdrawal({
        type: 'SendAsset',
        ...sent,
        ...route,
        amount: '0.05000000',
        nonce: time,
      }),
    )
    await expectAgreement(own(), hyperliquid, { request, money, payload })
  })

  test('P-69: pays no token of unknown decimals, and none from another dex than the one that is burned for', async () => {
    expect(await own().build(asked(`0x${'0d'.repeat(16)}`, 1n).request)).toBe('0x')
    const [spot, other] = [asked(usdc, 1n).request, asked(`${usdc}78797a`, 1n).request]
    expect(await own().build({ ...spot, data: other.data })).toBe('0x')
    expect(await own().build({ ...other, data: spot.data })).toBe('0x')
  })

  test.each(['USDC', `USDC:${usdc.slice(2)}`, `USDC:${usdc}7`, `USDC:${usdc.slice(0, -2)}`, `:`])(
    'does not read the currency %j',
    async (currency) => {
      const { request } = asked(usdc, 1n)
      await expect(own().build({ ...request, currency })).rejects.toThrow()
    },
  )

  test('does not pay what is no account', async () => {
    const { request } = asked(hyperliquidNative, 1n)
    await expect(own().build({ ...request, recipient: 'me' })).rejects.toThrow()
  })

  test('of a token of other decimals writes the amount with them', async () => {
    const token = `0x${'0d'.repeat(16)}` as const
    const args = ['Testnet', [{ token, decimals: 2 }]]
    const builder = builderAt(await deploy('HyperliquidPayloadBuilder', hyperliquidPayloadBuilderAbi, args))
    const payload = await builder.build(asked(token, 150n).request)
    expect(decodeHyperliquidWithdrawal(payload)).toMatchObject({
      amount: '1.50',
      hyperliquidChain: 'Testnet',
      token: `USDC:${token}`,
    })
  })
})

describe('the builder for Lighter', () => {
  const lighter = { ...mainNetwork('lighter-vm'), hubChainId: derivedHubChainId('lighter').toString() }
  const published = {
    nonce: 1n,
    fromAccountIndex: 460_491n,
    fromRouteType: 0n,
    apiKeyIndex: 4n,
    toAccountIndex: 462_196n,
    toRouteType: 0n,
    assetIndex: 3n,
    amount: 1_000_000n,
    usdcFee: 3_000_000n,
    lighterChainId: 304n,
    memo: `0x${'abcd1234'.repeat(8)}` as const,
  }
  const money = terms({ depository: '460491', currency: '0', amount: 1_000_000n, recipient: '462196' })
  const own = {
    nonce: '1',
    fromRouteType: '0',
    toRouteType: '0',
    apiKeyIndex: '4',
    usdcFee: '3000000',
    assetIndex: '3',
    memo: published.memo,
  }
  const request = spelledWithdrawRequest(lighter, money, { 'lighter-vm': own })
  const local = () => builderAt(bench.deployment.lighterPayloadBuilder)

  test('builds the published transfer', async () => {
    const builder = builderAt(await deploy('LighterPayloadBuilder', lighterPayloadBuilderAbi, [304n]))
    const payload = await builder.build(request)
    expect(payload).toBe(encodeLighterWithdrawal(published))
    expect(lighterWithdrawalId(decodeLighterWithdrawal(payload))).toBe(
      '0xd0780266cca3ea70d56618eda93ed8db4b554a19424f6c1f2ae25ee420f4e3e2',
    )
    await expectAgreement(builder, lighter, { request, money, payload })
  })

  test('builds with the largest numbers', async () => {
    const max = 2n ** 64n - 1n
    const text = max.toString()
    const asked = terms({ depository: text, currency: text, amount: max, recipient: text })
    const data = { ...own, nonce: text, fromRouteType: text, toRouteType: text, apiKeyIndex: text }
    const largest = spelledWithdrawRequest(lighter, asked, {
      'lighter-vm': { ...data, usdcFee: text, assetIndex: text },
    })
    const payload = await local().build(largest)
    expect(decodeLighterWithdrawal(payload)).toMatchObject({ amount: max, fromAccountIndex: max })
    await expectAgreement(local(), lighter, { request: largest, money: asked, payload })
  })

  test.each<[string, Partial<WithdrawRequest>]>([
    ['more than a transfer can carry', { amount: 2n ** 64n }],
    ['another action than a transfer', { data: `0x${'1'.padStart(64, '0')}${request.data.slice(66)}` }],
  ])('pays nothing for %s', async (_what, change) => {
    expect(await local().build({ ...request, ...change })).toBe('0x')
  })

  test.each<[string, Partial<WithdrawRequest>]>([
    ['a recipient in hex', { recipient: '0x1' }],
    ['a recipient with a zero in front', { recipient: '01' }],
    ['a recipient that is none', { recipient: '' }],
    ['a currency above uint64', { currency: (2n ** 64n).toString() }],
    ['a depository in letters', { depository: 'abc' }],
    ['too little data', { data: '0x' }],
  ])('does not read %s', async (_what, change) => {
    await expect(local().build({ ...request, ...change })).rejects.toThrow()
  })
})
