import { describe, expect, test } from 'vitest'
import { dependenciesCheck } from './dependencies.ts'

function problemsOf(path: string, text: string): readonly string[] {
  return dependenciesCheck.find([{ path, text }]).map((finding) => finding.problem)
}

describe('dependencies check', () => {
  test.each([
    [
      'packages/core/src/a.ts',
      "import { x } from '@causeway/chains'",
      'core must not import @causeway/chains',
    ],
    [
      'packages/chains/src/a.ts',
      "import type { X } from '@causeway/http'",
      'chains must not import @causeway/http',
    ],
    [
      'packages/http/src/a.ts',
      "await import('@causeway/database')",
      'http must not import @causeway/database',
    ],
    [
      'packages/http/src/a.ts',
      "import { createLogger } from '@causeway/service'",
      'http must not import @causeway/service',
    ],
    [
      'packages/market/src/a.ts',
      "import { x } from '@causeway/signer'",
      'market must not import @causeway/signer',
    ],
    [
      'packages/chains/src/a.ts',
      "import type { Market } from '@causeway/market'",
      'chains must not import @causeway/market',
    ],
    [
      'packages/market/src/a.ts',
      "import { x } from '@causeway/quote-api'",
      'market must not import @causeway/quote-api',
    ],
    [
      'apps/oracle/src/a.ts',
      "export { x } from '@causeway/quote-api'",
      'oracle must not import @causeway/quote-api',
    ],
    [
      'packages/core/src/a.ts',
      "import { x } from '@causeway/quote-api'",
      'core must not import @causeway/quote-api',
    ],
    [
      'apps/quote-api/src/a.ts',
      "import { startAnvil } from '@causeway/localnet'",
      'quote-api must not import @causeway/localnet',
    ],
    [
      'apps/quote-api/src/a.ts',
      "import { x } from '@causeway/core/src/hex.ts'",
      'imports the inside of a package: @causeway/core/src/hex.ts',
    ],
    [
      'packages/chains/test/a.test.ts',
      "import { x } from '@causeway/localnet/standIns/tron/bodies'",
      'imports the inside of a package: @causeway/localnet/standIns/tron/bodies',
    ],
    [
      'packages/chains/src/a.ts',
      "import { x } from '@causeway/localnet/standIns/tron'",
      'chains must not import @causeway/localnet/standIns/tron',
    ],
    [
      'apps/quote-api/src/a.ts',
      "import { x } from '../../../packages/core/src/hex.ts'",
      'imports ../../../packages/core/src/hex.ts, outside its own package',
    ],
    [
      'packages/signer/src/a.ts',
      "import { v } from '../../core/test/vectors/orders.ts'",
      'imports ../../core/test/vectors/orders.ts, outside its own package',
    ],
    [
      'packages/chains/src/a.test.ts',
      "import { x } from '../../core/src/hex.ts'",
      'imports ../../core/src/hex.ts, outside its own package',
    ],
  ])('refuses in %s: %s', (path, text, problem) => {
    expect(problemsOf(path, text)).toEqual([problem])
  })

  test.each([
    ['packages/chains/src/a.ts', "import { x } from '@causeway/core'"],
    ['packages/chains/src/ethereum-vm/simulation/a.ts', "import { x } from '../rpc/jsonRpc.ts'"],
    ['packages/market/src/a.ts', "import { x } from '@causeway/chains'"],
    ['packages/market/src/a.test.ts', "import { recoverSigner } from '@causeway/signer'"],
    ['packages/localnet/src/a.ts', "import { x } from '@causeway/chains'"],
    ['packages/service/src/a.ts', "import { createReadiness } from '@causeway/http'"],
    ['packages/chains/test/a.test.ts', "import { startAnvil } from '@causeway/localnet'"],
    ['apps/quote-api/src/a.ts', "import { x } from '@causeway/database'"],
    ['scripts/start.ts', "import { startAnvil } from '@causeway/localnet'"],
    ['packages/ledger/test/a.test.ts', "import { startTestDatabase } from '@causeway/database'"],
    ['packages/signer/src/a.test.ts', "import { v } from '../../core/test/vectors/orders.ts'"],
    ['packages/chains/test/a.test.ts', "import { x } from '@causeway/localnet/standIns/tron'"],
  ])('accepts in %s: %s', (path, text) => {
    expect(problemsOf(path, text)).toEqual([])
  })

  test('refuses a database in what a package ships', () => {
    const text = "import { createDatabase } from '@causeway/database'"
    expect(problemsOf('packages/ledger/src/a.ts', text)).toEqual([
      'ledger must not import @causeway/database',
    ])
    expect(problemsOf('packages/core/test/a.test.ts', text)).toEqual([
      'core must not import @causeway/database',
    ])
  })

  test('refuses a run-time dependency on localnet and accepts a development one', () => {
    const path = 'packages/chains/package.json'
    const manifest = { '@causeway/localnet': 'workspace:*' }
    expect(problemsOf(path, JSON.stringify({ dependencies: manifest }))).toEqual([
      'chains must not depend on @causeway/localnet',
    ])
    expect(problemsOf(path, JSON.stringify({ devDependencies: manifest }))).toEqual([])
  })

  test('refuses packages that depend on each other, by development dependencies too', () => {
    const manifest = (name: string, members: object) => ({
      path: `packages/${name}/package.json`,
      text: JSON.stringify({ name: `@causeway/${name}`, ...members }),
    })
    const on = (...names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [`@causeway/${name}`, 'workspace:*']))
    const core = manifest('core', {})
    const localnet = manifest('localnet', { dependencies: on('contracts', 'core') })
    const contracts = manifest('contracts', { dependencies: on('core') })
    const signer = manifest('signer', { dependencies: on('core'), devDependencies: on('localnet') })
    expect(dependenciesCheck.find([core, localnet, contracts, signer])).toEqual([])
    const tested = manifest('contracts', { dependencies: on('core'), devDependencies: on('localnet') })
    expect(dependenciesCheck.find([core, localnet, tested, signer])).toEqual([
      {
        file: 'packages/contracts/package.json',
        problem: 'depends on itself: @causeway/contracts → @causeway/localnet → @causeway/contracts',
      },
    ])
  })

  test('refuses a package of another version than the release', () => {
    const manifest = (path: string, version: string) => ({ path, text: JSON.stringify({ version }) })
    const release = manifest('package.json', '0.3.0')
    const runtime = manifest('scripts/runtime/package.json', '26.10.0')
    const core = manifest('packages/core/package.json', '0.3.0')
    expect(dependenciesCheck.find([release, runtime, core])).toEqual([])
    expect(dependenciesCheck.find([release, manifest('apps/oracle/package.json', '0.2.0')])).toEqual([
      { file: 'apps/oracle/package.json', problem: 'has version 0.2.0, and the release 0.3.0' },
    ])
  })
})
