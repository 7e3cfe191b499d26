// Goal: a deposit comes to the hub however many others its transaction has. Method: a real node with the hub's contracts;
// oracles answer with the keys that the hub knows.
import { createHubRecoveries } from '@causeway/chains'
import { hubOracleAbi } from '@causeway/contracts'
import { bytesToHex, encodeMintAction, type Hex, Secret } from '@causeway/core'
import { createHubTransactions } from '@causeway/families'
import { signingDigest } from '@causeway/families/rules'
import { createJsonRpcClient } from '@causeway/rpc'
import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { startHubBench } from '../packages/localnet/test/support/contractBench.ts'

const idempotencyKey: Hex = `0x${'e7'.repeat(32)}`
/** The worthless token of a stranger, over and over in the transaction of a user, whose deposit is the last. */
const actions = [...Array<bigint>(600).fill(1n), 2n].map((hubTokenId) =>
  encodeMintAction({ hubTo: `0x${'b1'.repeat(20)}`, hubTokenId, amount: 7n }),
)

test('P-73: a deposit among 600 of one transaction comes to the hub within the gas of a block', async () => {
  const bench = await startHubBench()
  onTestFinished(() => bench.stop())
  const { chain, keys, deployment } = bench
  const [url] = chain.client.chain?.rpcUrls.default.http ?? []
  const client = createJsonRpcClient({
    chainId: 'relay',
    endpoints: [{ url: new Secret(url ?? '') }],
  })
  onTestFinished(() => client.close())
  const executionDomain = { chainId: chain.chainId, verifyingContract: deployment.oracle, version: '2' }
  const execution = { idempotencyKey, actions }
  const hash = bytesToHex(signingDigest({ purpose: 'execution', domain: executionDomain, execution }))
  const payer = privateKeyToAccount(keys.fillWallet.privateKey)
  const isExecuted = () =>
    chain.client.readContract({
      address: deployment.oracle,
      abi: hubOracleAbi,
      functionName: 'isExecuted',
      args: [idempotencyKey],
    })
  const recoveries = createHubRecoveries({
    vouching: {
      oracles: keys.oracles.map(({ address: signer, privateKey }) => ({
        attestDeposits: async () => {
          const signature = await privateKeyToAccount(privateKey).sign({ hash })
          return { said: 'signed', signer, signature, execution } as const
        },
        attestPromise: async () => ({ said: 'nothing', code: 'not asked' }) as const,
      })),
      threshold: 2,
      multisig: deployment.oracleMultisig,
      domain: { chainId: chain.chainId, verifyingContract: deployment.genericMapping },
    },
    writer: { write: async () => undefined },
    transactions: createHubTransactions({
      client,
      chainId: chain.chainId,
      signer: {
        address: payer.address,
        sign(request) {
          if (request.purpose !== 'transaction') throw new Error('this key pays for gas alone')
          return payer.sign({ hash: keccak256(request.unsigned) })
        },
      },
    }),
    reader: { isExecuted },
    executionDomain,
  })
  await recoveries.submitDeposits({ chainId: 'base', transactionId: `0x${'bb'.repeat(32)}` })
  expect(await isExecuted()).toBe(true)
})
