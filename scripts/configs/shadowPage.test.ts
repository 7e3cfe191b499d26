// Goal: an oracle beside another one is started by what the page says, with the shipped files. Attack: a page that was
// right once, or that nobody reads to its end.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Hex } from '@causeway/core'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, onTestFinished, test } from 'vitest'
import { examineOwnOracle } from '../../apps/oracle/src/compose/examine.ts'
import { root } from './writeJson.ts'

const page = readFileSync(join(root, 'docs/operating/shadow.md'), 'utf8')

/** As the page has them, with a home of its own. */
async function variables(): Promise<Record<string, string>> {
  const home = await mkdtemp(join(tmpdir(), 'causeway-shadow-'))
  onTestFinished(() => rm(home, { recursive: true }))
  const [, makeKey = ''] = /new key: `([^`]+)`/.exec(page) ?? []
  execFileSync('bash', ['-c', makeKey], { env: { ...process.env, HOME: home } })
  // CAST: it is checked where it is read.
  const key = readFileSync(join(home, 'shadow.key'), 'utf8').trim() as Hex
  const filled: Readonly<Record<string, string>> = {
    '<own signer>': privateKeyToAddress(key),
    '<key of a peer>': 'key-of-a-peer',
  }
  const [, block = ''] = /```ini\n([\s\S]*?)```/.exec(page) ?? []
  return Object.fromEntries(
    block
      .trim()
      .split('\n')
      .map((line) => {
        const [name = '', ...value] = line.split('=')
        return [
          name,
          value
            .join('=')
            .replaceAll("'", '')
            .replace(/^~/, home)
            .replace(/<[^>]*>/g, (placeholder) => filled[placeholder] ?? placeholder),
        ]
      }),
  )
}

const found = (given: Readonly<Record<string, string>>) =>
  examineOwnOracle(given, { repositoryRoot: root, nowMs: () => Date.now(), scope: 'settings' })

test('O-108: an oracle starts in shadow mode by the settings of the page, and needs all of them', async () => {
  const given = await variables()
  expect((await found(given)).filter(({ severity }) => severity === 'stops')).toEqual([])
  for (const name of ['RELAY_RPC_URL', 'BASE_SIGNING_CAPS', 'ECDSA_PRIVATE_KEY_FILE']) {
    const { [name]: _left, ...others } = given
    expect(
      (await found(others)).some(({ severity }) => severity === 'stops'),
      name,
    ).toBe(true)
  }
})

test('O-108: the page fits on a screen', () => {
  expect(page.split('\n').length).toBeLessThan(45)
})
