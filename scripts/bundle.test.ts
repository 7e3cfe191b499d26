// Goal: what starts is what the sources say, without a compiler beside it. Attacks: a source that changes after a bundle,
// one that is deleted, an image that looks for a file of the repository, a command of another service.
// Method: the one command, in this repository and, for images, in a folder outside of it.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startTestDatabase, type TestDatabase } from '@causeway/database'
import { startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { parseEther } from 'viem'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { deposit, native, noOrder } from '../apps/oracle/test/support/protocolActors.ts'
import { readStages } from './checks/containers.ts'
import { imageVariables } from './images/imageVariables.ts'

const root = join(import.meta.dirname, '..')
const run = promisify(execFile)
const services = ['quote-api', 'oracle', 'solver', 'allocator'] as const
/** Files that a service reads from its image at run time: the API reference of a library, pages, the console. */
const pages: Readonly<Record<string, readonly string[]>> = {
  'quote-api': ['/documentation/static/swagger-ui.css', '/llms.txt', '/sponsor/sponsor/main.js'],
  oracle: ['/documentation/static/swagger-ui.css'],
}

async function newFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'causeway-bundle-')))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Every script of a bundle says its own name; the libraries are those of this repository. */
async function smallRepository(): Promise<string> {
  // Images are built in a folder of this name, which folders of sources have as well.
  const folder = join(await newFolder(), 'src')
  const write = async (path: string, text: string) => {
    await mkdir(join(folder, path, '..'), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  const mains = services.map((name) => `apps/${name}/src/main.ts`)
  for (const path of ['scripts/start.ts', 'scripts/start/standIns.ts', 'apps/quote-api/src/cli.ts', ...mains])
    await write(path, `const own: string = '${path}'\nconsole.log(own)\n`)
  await write(
    'apps/oracle/src/main.ts',
    "import { word } from './word.ts'\nconsole.log(word, import.meta.url)\n",
  )
  await write('apps/oracle/src/word.ts', "export const word: string = 'first'\n")
  await write('packages/signer/src/signWorker.js', '')
  await write('packages/core/src/hashing/viemParts.ts', '')
  await write(
    'packages/console/src/page.ts',
    "import { one } from './one.ts'\nexport const two: number = one + 1\n",
  )
  await write('packages/console/src/one.ts', 'export const one: number = 1\n')
  await write('package.json', '{"type":"module"}')
  await cp(join(root, 'scripts/bundle.mjs'), join(folder, 'scripts/bundle.mjs'))
  await cp(join(root, 'packages/chains/package.json'), join(folder, 'packages/chains/package.json'))
  await mkdir(join(folder, 'packages/chains/src'))
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await symlink(join(root, 'packages/chains/node_modules'), join(folder, 'packages/chains/node_modules'))
  return folder
}

const bundleIn = (folder: string) => run(process.execPath, [join(folder, 'scripts/bundle.mjs')])
const oracleOf = async (folder: string) =>
  (await run(process.execPath, [join(folder, 'apps/oracle/dist/main.js')])).stdout.trim()

test('O-137: a service runs what its sources say, from a bundle that is made anew when one of them changed', async () => {
  const folder = await smallRepository()
  await bundleIn(folder)
  const own = `file://${folder}/apps/oracle/src/main.ts`
  expect(await oracleOf(folder)).toBe(`first ${own}`)
  const word = join(folder, 'apps/oracle/src/word.ts')
  await writeFile(word, "export const word: string = 'second'\n")
  expect(await oracleOf(folder)).toBe(`first ${own}`)
  await bundleIn(folder)
  expect(await oracleOf(folder)).toBe(`second ${own}`)
  // Older than what was there before, as after a change of the branch.
  await writeFile(word, "export const word: string = 'third'\n")
  await utimes(word, new Date(0), new Date(0))
  await bundleIn(folder)
  expect(await oracleOf(folder)).toBe(`third ${own}`)
  const { two } = await import(join(folder, 'packages/console/dist/page.js'))
  expect(two).toBe(2)
})

describe('O-138: an image', () => {
  let images: string
  let network: TestNetwork
  let databases: readonly TestDatabase[] = []
  let variables: Awaited<ReturnType<typeof imageVariables>>

  beforeAll(async () => {
    images = await mkdtemp(join(tmpdir(), 'causeway-images-'))
    await run(process.execPath, [join(root, 'scripts/bundle.mjs'), '--images', images])
    network = await startTestNetwork({ blockTimeSeconds: 1 })
    databases = await Promise.all([startTestDatabase(), startTestDatabase()])
    const [first = '', second = ''] = databases.map(({ connectionString }) => connectionString)
    variables = await imageVariables(network, { 'quote-api': first, solver: second })
  })

  afterAll(async () => {
    await network?.stop()
    for (const database of databases) await database.stop()
    await rm(images, { recursive: true, force: true })
  })

  /** As `docker/Dockerfile` lays it out, which is checked below. */
  async function startImage(service: (typeof services)[number]) {
    const folder = join(images, service)
    await cp(join(root, 'configs'), join(folder, 'configs'), { recursive: true })
    if (service === 'quote-api') await cp(join(root, 'docs'), join(folder, 'docs'), { recursive: true })
    const child = spawn(process.execPath, [`apps/${service}/dist/main.js`], {
      cwd: folder,
      env: { PATH: process.env['PATH'], ...variables[service] },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk.toString()
      })
    const ended = once(child, 'exit')
    onTestFinished(async () => {
      child.kill('SIGKILL')
      await ended
    })
    await waitUntil(`${service} is ready`, async () => {
      if (child.exitCode !== null) throw new Error(output)
      return (
        (await fetch(`http://127.0.0.1:${variables[service]['OPS_PORT']}/ready`).catch(() => undefined))
          ?.ok === true
      )
    })
    const stop = async () => {
      child.kill('SIGTERM')
      return (await ended)[0]
    }
    return { url: `http://127.0.0.1:${variables[service]['HTTP_PORT']}`, stop }
  }

  /** Has a deposit read, and signed by the thread of the signer. */
  async function attest(url: string): Promise<void> {
    const [user] = network.keys.users
    if (user === undefined) throw new Error('the network has users')
    const amount = parseEther('0.1')
    const transactionId = await deposit(network, 'base', user, {
      currency: native,
      amount,
      id: noOrder,
    })
    await network.chains.base.chain.node.mine({ blocks: 3 })
    const answer = await fetch(`${url}/attestations/depository-deposits/v1`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ chainId: 'base', transactionId }),
    })
    expect([answer.status, await answer.json()]).toEqual([
      200,
      expect.objectContaining({ messages: [expect.anything()] }),
    ])
  }

  test.each(services)(
    'of %s starts outside of the repository, without installed packages',
    async (service) => {
      const { url, stop } = await startImage(service)
      for (const path of pages[service] ?? [])
        expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200])
      if (service === 'oracle') await attest(url)
      expect(await stop()).toBe(0)
    },
  )

  test('has what the Dockerfile puts beside the bundle, and nothing else', async () => {
    const { stages } = readStages(await readFile(join(root, 'docker/Dockerfile'), 'utf8'))
    for (const service of services) {
      const stage = stages.find(({ name }) => name === service)
      const copied = stage?.instructions.filter(({ keyword }) => keyword === 'COPY').map(({ text }) => text)
      expect(copied).toEqual([
        `/out/${service} ./`,
        `/src/sbom/${service}.cdx.json sbom.cdx.json`,
        ...(service === 'quote-api' ? ['docs docs'] : []),
      ])
    }
  })
})

test.each(['solver', 'allocator'])('causeway %s is a command of that process', async (name) => {
  const words = [join(root, 'scripts/run.mjs'), 'apps/quote-api/src/cli.ts', name, 'stop']
  const env = { PATH: process.env['PATH'], ENVIRONMENT: 'nowhere' }
  // The service's own command line knows neither and would list its commands.
  await expect(run(process.execPath, words, { env })).rejects.toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.not.stringContaining('keys create'),
  })
})
