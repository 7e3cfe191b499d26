// The chains of a local network on which an allocator's payload is paid or comes to nothing: one of each family,
// with its depository, funded.
import { createHash } from 'node:crypto'
import { type Hex, hexToBytes } from '@causeway/core'
import {
  bitcoinNetworkOf,
  codecOf,
  createBitcoinCodec,
  mainNetwork,
  solanaCodec,
  tronAddress,
  type VmType,
} from '@causeway/core/encodings'
import {
  decodeBitcoinPayload,
  decodeEvmWithdrawal,
  decodeHyperliquidWithdrawal,
  decodeLighterWithdrawal,
  decodeSolanaWithdrawal,
  encodeLighterWithdrawal,
  type LighterWithdrawal,
  scriptAddress,
  solanaWithdrawalId,
} from '@causeway/families/rules'
import { Keypair, PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { Transaction } from 'bitcoinjs-lib'
import { pad, parseEther } from 'viem'
import { loadArtifacts } from '../../src/contracts/artifacts.ts'
import { payloadCallData } from '../../src/deploy/callRequest.ts'
import {
  bitcoinDepositoryScript,
  type FamilyKey,
  familyDepositories,
  ownerlessAddress,
  tronChainId,
  witnessScript,
} from '../../src/families/familyPlans.ts'
import { familyVariables } from '../../src/families/familyVariables.ts'
import type { TestNetwork } from '../../src/network/testNetwork/startTestNetwork.ts'
import { startAnvil } from '../../src/nodes/anvil.ts'
import { askNode } from '../../src/nodes/askNode.ts'
import { waitUntilMined } from '../../src/nodes/clients.ts'
import { connectLocalChain, type LocalChain } from '../../src/nodes/localChain.ts'
import { ConstructedChain, startBitcoinNode } from '../../src/standIns/bitcoin/index.ts'
import { type ExchangeLedger, startExchange } from '../../src/standIns/hyperliquid/index.ts'
import { type LighterNode, renderTransferInfo, startLighterNode } from '../../src/standIns/lighter/index.ts'
import {
  executeTransfer,
  deployDepository as placeDepository,
  SolanaNode,
  startRpcServer,
} from '../../src/standIns/solana/index.ts'
import { createTronLedger, startTronFacade } from '../../src/standIns/tron/index.ts'

/** One chain and what a withdrawal on it says. */
export type Venue = {
  readonly chainId: FamilyKey | 'base'
  readonly vmType: VmType
  /** Canonical. */
  readonly depository: string
  readonly currency: string
  readonly recipient: string
  readonly amount: bigint
  /** Another one for each request. @param isDoomed of a withdrawal that `expire` is called for */
  additionalData?(isDoomed: boolean): Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Pays what was issued, on the allocator's signatures; final when it resolves. @returns the transaction id */
  execute(payload: Hex, signatures: readonly Hex[]): Promise<string>
  /** From now on nobody can pay it; final when it resolves. @returns a transaction that shows it, where one does */
  expire(payload: Hex): Promise<string | undefined>
}

/** As a request names it. */
type BitcoinOutput = { readonly txid: string; readonly vout: number; readonly value: string }

export type Venues = {
  readonly base: Venue
  readonly solana: Venue & { readonly node: SolanaNode }
  readonly bitcoin: Venue & {
    readonly chain: ConstructedChain
    additionalData(): Readonly<Record<string, Readonly<Record<string, unknown>>>>
    /** An output from nowhere, final. */
    fund(script: Uint8Array, value: bigint): BitcoinOutput
  }
  readonly tron: Venue
  readonly hyperliquid: Venue & { readonly ledger: ExchangeLedger }
  readonly lighter: Venue & { readonly node: LighterNode }
  /** Environment variables of oracles for these venues. */
  readonly variables: Readonly<Record<string, string>>
  stop(): Promise<void>
}

const blocksOnTop = 3
/** Some chains have a clock beside their blocks, which must be past it too. */
const clockMarginSeconds = 600n
const native = (vmType: VmType) => codecOf(mainNetwork(vmType)).nativeCurrency

export async function startVenues(network: TestNetwork): Promise<Venues> {
  const depositories = familyDepositories(network.deployment.tron.depository)
  const [solana, bitcoin, tron, hyperliquid, lighter] = await Promise.all([
    solanaVenue(depositories.solana),
    bitcoinVenue(depositories.bitcoin),
    tronVenue(network),
    hyperliquidVenue(depositories.hyperliquid),
    lighterVenue(depositories.lighter),
  ])
  const open = { solana, bitcoin, tron, hyperliquid, lighter }
  return {
    base: await baseVenue(network),
    ...open,
    variables: familyVariables(open),
    async stop() {
      await Promise.all(Object.values(open).map((venue) => venue.stop()))
    },
  }
}

async function baseVenue(network: TestNetwork): Promise<Venue> {
  const { chain } = network.chains.base
  const { depository } = network.deployment.base
  await chain.node.setBalance({ address: depository, value: parseEther('10') })
  const shared = { chainId: 'base', vmType: 'ethereum-vm', currency: native('ethereum-vm') } as const
  return {
    ...shared,
    depository,
    recipient: ownerlessAddress('recipient on base'),
    amount: 1_000_000n,
    async execute(payload, [signature = '0x']) {
      const clients = chain.as(network.keys.fillWallet)
      const data = payloadCallData(payload, signature)
      const hash = await clients.walletClient.sendTransaction({ to: depository, data })
      await waitUntilMined(clients, hash, 'the payout')
      await network.mine('base', blocksOnTop)
      return hash
    },
    expire: (payload) => outlive(chain, payload),
  }
}

/** Moves the chain's clock past the payload's expiration, in a final block. */
async function outlive(chain: LocalChain, payload: Hex): Promise<undefined> {
  const { expiration } = decodeEvmWithdrawal(payload)
  await chain.node.setNextBlockTimestamp({ timestamp: expiration + clockMarginSeconds })
  await chain.node.mine({ blocks: blocksOnTop + 1 })
}

/** A node of its own: the domain that a depository's payloads are signed for has the chain's number. */
async function tronVenue({ deployment, keys }: TestNetwork) {
  const chainId = Number(tronChainId)
  const anvil = await startAnvil({ chainId })
  const chain = connectLocalChain(anvil.url, chainId)
  const { depository } = deployment.tron
  await deployDepository(chain, depository, keys)
  const node = (method: string, params: readonly unknown[]) => askNode(anvil.url, method, params)
  const known = new Map()
  const ledger = createTronLedger(
    {
      chain,
      node,
      mine: (blocks = 1) => chain.node.mine({ blocks }),
      async send(from, to, data = '0x', value = 0n) {
        const clients = chain.as(from)
        const transactionId = await clients.walletClient.sendTransaction({ to, data, value })
        await waitUntilMined(clients, transactionId, 'the transaction')
        return { transactionId }
      },
    },
    known,
  )
  const facade = await startTronFacade({ node }, ledger, { chainId: tronChainId })
  const shared = { chainId: 'tron', vmType: 'tron-vm', currency: native('tron-vm') } as const
  return {
    ...shared,
    depository: tronAddress(depository),
    url: facade.url,
    amount: 1_000_000n,
    recipient: tronAddress(ownerlessAddress('recipient on Tron')),
    async execute(payload: Hex, [signature = '0x']: readonly Hex[]) {
      const data = payloadCallData(payload, signature)
      const { transactionId } = await ledger.submit(keys.fillWallet, {
        kind: 'trigger',
        to: depository,
        data,
      })
      await chain.node.mine({ blocks: blocksOnTop })
      return transactionId
    },
    expire: (payload: Hex) => outlive(chain, payload),
    async stop() {
      await facade.stop()
      await anvil.stop()
    },
  }
}

async function deployDepository(
  chain: LocalChain,
  address: Hex,
  { deployer, allocator, fillWallet }: TestNetwork['keys'],
): Promise<void> {
  const { Depository } = await loadArtifacts()
  await chain.node.setCode({ address, bytecode: Depository.runtimeBytecode })
  for (const funded of [address, deployer.address, fillWallet.address]) {
    await chain.node.setBalance({ address: funded, value: parseEther('10') })
  }
  for (const [index, account] of [deployer, allocator].entries()) {
    await chain.node.setStorageAt({ address, index, value: pad(account.address) })
  }
}

async function solanaVenue(depository: string) {
  const node = new SolanaNode()
  const deployed = placeDepository(node, depository)
  const { addresses } = deployed
  const executor = Keypair.generate()
  const recipient = Keypair.generate().publicKey.toBase58()
  for (const funded of [addresses.vault, executor.publicKey.toBase58(), recipient]) {
    node.airdrop(funded, 10n ** 10n)
  }
  const server = await startRpcServer(node)
  const shared = { chainId: 'solana', vmType: 'solana-vm', currency: solanaCodec.nativeCurrency } as const
  return {
    ...shared,
    depository,
    node,
    recipient,
    amount: 1_000_000n,
    url: server.url,
    stop: server.stop,
    async execute(payload: Hex) {
      const request = decodeSolanaWithdrawal(payload)
      const order = { executor: executor.publicKey, request, withdrawalId: solanaWithdrawalId(request) }
      const program = new PublicKey(depository)
      const message = new TransactionMessage({
        payerKey: executor.publicKey,
        recentBlockhash: node.latestBlockhash(),
        instructions: [executeTransfer({ program, addresses }, order)],
      })
      const transaction = new VersionedTransaction(message.compileToV0Message())
      transaction.sign([executor])
      const sent = node.send(transaction.serialize(), { skipPreflight: false })
      if ('refusal' in sent) throw new Error(`the payout is refused: ${sent.refusal}`)
      return sent.signature
    },
    async expire(payload: Hex) {
      const slot = node.slot('finalized')
      const now = node.block(slot)?.timeSeconds ?? 0n
      node.mine(2, decodeSolanaWithdrawal(payload).expiration - now + 1n)
      return undefined
    },
  }
}

async function bitcoinVenue(depository: string) {
  const chain = new ConstructedChain()
  chain.mineEmpty(blocksOnTop)
  const node = await startBitcoinNode(chain)
  const recipient = scriptAddress(witnessScript('recipient on Bitcoin'), bitcoinNetworkOf('regtest'))
  if (recipient === undefined) throw new Error('the recipient has no address')
  const { nativeCurrency: currency } = createBitcoinCodec()
  const shared = { chainId: 'bitcoin', vmType: 'bitcoin-vm', currency, recipient, amount: 60_000n } as const
  let funded = 0
  const fund = (script: Uint8Array, value: bigint): BitcoinOutput => {
    funded += 1
    const funding = new Transaction()
    const nowhere = createHash('sha256').update(`funding ${funded}`).digest()
    funding.addInput(nowhere, 0, 0xffff_ffff, Uint8Array.of(0x51))
    funding.addOutput(script, value)
    chain.mine(funding)
    chain.mineEmpty(blocksOnTop)
    return { txid: funding.getId(), vout: 0, value: value.toString() }
  }
  return {
    ...shared,
    depository,
    chain,
    url: node.url('node'),
    stop: node.stop,
    fund,
    additionalData() {
      const utxo = fund(bitcoinDepositoryScript, 100_000n)
      return { 'bitcoin-vm': { allocatorUtxos: [utxo], feeRate: '5' } }
    },
    async execute(payload: Hex) {
      const paid = bitcoinPayment(payload)
      chain.mine(paid)
      chain.mineEmpty(blocksOnTop)
      return paid.getId()
    },
    async expire(payload: Hex) {
      chain.mine(bitcoinPayment(payload, witnessScript('somebody else')))
      chain.mineEmpty(blocksOnTop)
      return undefined
    },
  }
}

/** The transaction of a payload. @param elsewhere whom its outputs go to instead; nothing here is signed */
export function bitcoinPayment(payload: Hex, elsewhere?: Uint8Array): Transaction {
  const { inputs, outputs } = decodeBitcoinPayload(payload)
  const transaction = new Transaction()
  transaction.version = 2
  for (const { txid, vout } of inputs) transaction.addInput(Buffer.from(txid, 'hex').reverse(), vout)
  for (const { value, script } of outputs) transaction.addOutput(elsewhere ?? script, value)
  return transaction
}

/** Longer ago than the exchange takes actions. */
const tooOldMs = 60 * 3_600_000

async function hyperliquidVenue(depository: string) {
  const usdc = { name: 'USDC', tokenId: '0x6d1e7cde53ba9467b783cb7c530ce054', szDecimals: 8 }
  const ledger: ExchangeLedger = {
    transactions: [],
    tokens: [usdc],
    accounts: new Set([depository]),
    recentMax: 1_000,
  }
  const exchange = await startExchange(ledger)
  const list = (payload: Hex, error: string | null): string => {
    const hash = `0x${createHash('sha256').update(payload).digest('hex')}`
    const action = decodeHyperliquidWithdrawal(payload)
    ledger.transactions.push({ hash, user: depository, timeMs: Date.now(), action, error })
    return hash
  }
  let lastMs = 0
  const shared = { chainId: 'hyperliquid', vmType: 'hyperliquid-vm' } as const
  return {
    ...shared,
    depository,
    ledger,
    url: exchange.url,
    stop: exchange.stop,
    amount: 150_000_000n,
    currency: native('hyperliquid-vm'),
    recipient: ownerlessAddress('recipient on Hyperliquid'),
    additionalData(isDoomed: boolean) {
      lastMs = Math.max(lastMs + 1, Date.now())
      const currentTime = String(isDoomed ? lastMs - tooOldMs : lastMs)
      return { 'hyperliquid-vm': { currencyHyperliquidSymbol: '', currentTime } }
    },
    execute: async (payload: Hex) => list(payload, null),
    expire: async (payload: Hex) => list(payload, 'Insufficient balance'),
  }
}

async function lighterVenue(depository: string) {
  const node = await startLighterNode()
  node.setContract(ownerlessAddress('lighter contract'))
  node.setAccount(depository, ownerlessAddress('lighter depository'))
  const recipient = '77'
  node.setAccount(recipient, ownerlessAddress('recipient on Lighter'))
  let nonce = 0
  const put = (transfer: LighterWithdrawal, status: number): string => {
    const signed = encodeLighterWithdrawal(transfer)
    const hash = createHash('sha512').update(`${status} ${signed}`).digest('hex').slice(0, 80)
    const queuedAtMs = BigInt(Date.now())
    const info = renderTransferInfo({
      FromAccountIndex: transfer.fromAccountIndex,
      ApiKeyIndex: transfer.apiKeyIndex,
      ToAccountIndex: transfer.toAccountIndex,
      AssetIndex: transfer.assetIndex,
      FromRouteType: transfer.fromRouteType,
      ToRouteType: transfer.toRouteType,
      Amount: transfer.amount,
      USDCFee: transfer.usdcFee,
      Memo: [...hexToBytes(transfer.memo)],
      ExpiredAt: queuedAtMs + 600_000n,
      Nonce: transfer.nonce,
    })
    node.put({ hash, type: 12, status, queuedAtMs, info })
    return hash
  }
  return {
    ...({ chainId: 'lighter', vmType: 'lighter-vm', currency: native('lighter-vm') } as const),
    depository,
    node,
    recipient,
    amount: 2_500_000n,
    url: node.url,
    stop: node.stop,
    additionalData() {
      nonce += 1
      const routes = { fromRouteType: '0', toRouteType: '0', apiKeyIndex: '4', assetIndex: '3' }
      return { 'lighter-vm': { ...routes, nonce: String(nonce), usdcFee: '0', memo: '' } }
    },
    execute: async (payload: Hex) => put(decodeLighterWithdrawal(payload), 3),
    async expire(payload: Hex) {
      const transfer = decodeLighterWithdrawal(payload)
      put(transfer, 4)
      return put({ ...transfer, amount: 1n }, 3)
    },
  }
}
