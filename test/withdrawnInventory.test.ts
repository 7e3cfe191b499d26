// Goal: what `solver inventory` prints brings the hub's debt to the fill wallet, once, and only with the owner's key,
// also where it was killed in the middle. Method: the whole local network with its own oracles and allocator, and the
// example of the guide as it is printed.
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type Hex, hubAlias, hubTokenId } from '@causeway/core'
import { mainNetwork } from '@causeway/core/encodings'
import { connectLocalChain, depositoryAbi, hubAbi } from '@causeway/localnet'
import { encodeFunctionData, erc20Abi, keccak256, toHex } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type SessionBed, startSessionBed } from './support/sessionBed.ts'

const repositoryRoot = fileURLToPath(new URL('..', import.meta.url))
const amount = 60_000_000n
let bed: SessionBed
beforeAll(async () => {
  bed = await startSessionBed()
}, 240_000)
afterAll(() => bed?.stop(), 60_000)

const network = () => bed.session.network
const onBase = () => connectLocalChain(network().chains.base.url, network().deployment.base.chainId)

/** Somebody's money in the depository, and as much on the hub for the order signer. */
async function owe(): Promise<void> {
  const { keys, deployment, chains } = network()
  const [user] = keys.users
  if (user === undefined) throw new Error('no user')
  const { depository, tokens } = deployment.base
  const id = `0x${'d5'.repeat(32)}` as const
  await onBase().send(user, [
    {
      what: 'approve',
      to: tokens.USDC,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [depository, amount] }),
    },
    {
      what: 'deposit',
      to: depository,
      data: encodeFunctionData({
        abi: depositoryAbi,
        functionName: 'depositErc20',
        args: [user.address, tokens.USDC, amount, id],
      }),
    },
  ])
  const base = { chainId: 'base', ...mainNetwork('ethereum-vm') }
  const holder = hubAlias(base, keys.orderSigner.address.toLowerCase())
  const role = keccak256(toHex('OPERATOR_ROLE'))
  const args = [holder, hubTokenId(base, tokens.USDC), amount] as const
  const calls = [
    encodeFunctionData({ abi: hubAbi, functionName: 'grantRole', args: [role, keys.deployer.address] }),
    encodeFunctionData({ abi: hubAbi, functionName: 'mint', args }),
  ]
  await connectLocalChain(chains.hub.url, deployment.hub.chainId).send(
    keys.deployer,
    calls.map((data, index) => ({ what: `hub call ${index}`, to: deployment.hub.hub, data })),
  )
}

type Ways = {
  readonly patienceMs?: number
  /** A part of a path: the command is killed when it asks an oracle for it. */
  readonly killedAt?: string
}

/** The command with chain, currency, amount, the owner's chain and a nonce. */
async function withdraw(
  ownerKey: Hex,
  nonce: number,
  recipient: Hex,
  { patienceMs = 240_000, killedAt }: Ways = {},
) {
  const oracle = bed.session.services.find(({ plan }) => plan.name.startsWith('oracle'))
  if (oracle === undefined) throw new Error('no oracle runs')
  const settings = await readFile(network().paths.serviceFile(oracle.plan.name), 'utf8')
  const environment = z.record(z.string(), z.string()).parse(JSON.parse(settings))
  const files = { owner: join(bed.directory, `owner-${nonce}.key`), gas: join(bed.directory, 'gas.key') }
  await writeFile(files.owner, ownerKey)
  await writeFile(files.gas, network().keys.deployer.privateKey)
  const words = ['base', network().deployment.base.tokens.USDC, String(amount), 'base', String(nonce)]
  const script = 'docs/guides/examples/withdrawEarned.ts'
  const oracleUrl = `http://127.0.0.1:${oracle.ports['http']}`
  const between = await startBetween(oracleUrl, (path) => {
    if (killedAt !== undefined && path.includes(killedAt)) child.kill('SIGKILL')
  })
  const child = spawn(process.execPath, [script, ...words], {
    cwd: repositoryRoot,
    env: {
      ...environment,
      PATH: process.env['PATH'],
      ENVIRONMENT: 'local',
      PATIENCE_MS: String(patienceMs),
      RECIPIENT: recipient,
      ORACLE_URL: between.url,
      ORACLE_API_KEY: '',
      ORDER_SIGNER_KEY_FILE: files.owner,
      GAS_KEY_FILE: files.gas,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  between.stop()
  return { code, output }
}

/** Passes on what an oracle is asked. @param told each path, before */
async function startBetween(oracleUrl: string, told: (path: string) => void) {
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    told(path)
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${oracleUrl}${path}`, { method: 'POST', headers, body: await text(request) })
    response.writeHead(answer.status, headers).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('it listens nowhere')
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const balanceOf = (account: Hex) => {
  const { USDC } = network().deployment.base.tokens
  return onBase().client.readContract({
    address: USDC,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })
}

test('O-96: the command of a withdrawal pays what the hub owes, once, and to no thief', async () => {
  await owe()
  const { orderSigner } = network().keys
  const recipient = privateKeyToAddress(generatePrivateKey())
  const stolen = await withdraw(generatePrivateKey(), 1, recipient, { patienceMs: 5_000 })
  expect(stolen.code, stolen.output).toBe(1)
  expect(stolen.output).toContain('INSUFFICIENT_HUB_BALANCE')
  expect(await balanceOf(recipient)).toBe(0n)

  const { code, output } = await withdraw(orderSigner.privateKey, 2, recipient)
  expect(code, output).toBe(0)
  expect(output).toContain(`withdrawn: ${amount} smallest units`)
  expect(await balanceOf(recipient)).toBe(amount)
  const again = await withdraw(orderSigner.privateKey, 2, recipient)
  expect([again.code, again.output]).toEqual([0, expect.stringContaining('burned before')])
  expect(await balanceOf(recipient)).toBe(amount)
}, 600_000)

test('O-126: a withdrawal that is killed between payout and burn is brought to its end by the same command, and paid once', async () => {
  await owe()
  const { orderSigner } = network().keys
  const recipient = privateKeyToAddress(generatePrivateKey())
  const killed = await withdraw(orderSigner.privateKey, 3, recipient, {
    killedAt: '/depository-withdrawals/',
  })
  expect([killed.code, killed.output]).toEqual([null, expect.stringContaining('withdrawn: ')])
  expect(killed.output).not.toContain('burned')
  expect(await balanceOf(recipient)).toBe(amount)

  const again = await withdraw(orderSigner.privateKey, 3, recipient)
  expect([again.code, again.output]).toEqual([0, expect.stringContaining('withdrawn before: ')])
  expect(again.output).toContain('burned: the hub owes nothing for it')
  const third = await withdraw(orderSigner.privateKey, 3, recipient)
  expect([third.code, third.output]).toEqual([0, expect.stringContaining('burned before')])
  expect(await balanceOf(recipient)).toBe(amount)
}, 600_000)
