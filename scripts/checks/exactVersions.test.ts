import { describe, expect, test } from 'vitest'
import { exactVersionsCheck } from './exactVersions.ts'

function problems(args: { manifest: object; catalog: string }): readonly string[] {
  return exactVersionsCheck
    .find([
      { path: 'packages/a/package.json', text: JSON.stringify(args.manifest) },
      { path: 'pnpm-workspace.yaml', text: `catalog:\n${args.catalog}` },
    ])
    .map((finding) => finding.problem)
}

describe('exact versions check', () => {
  test('accepts catalog and workspace references with an exact catalog', () => {
    const manifest = { dependencies: { zod: 'catalog:', '@causeway/core': 'workspace:*' } }
    expect(problems({ manifest, catalog: '  zod: 4.6.7\n' })).toEqual([])
  })

  test('accepts an exact version of a package under another name, and no range of it', () => {
    const manifest = { dependencies: { older: 'catalog:' } }
    expect(problems({ manifest, catalog: '  older: npm:@a/b@2.4.6\n' })).toEqual([])
    expect(problems({ manifest, catalog: '  older: npm:@a/b@^2.4.6\n' })).toHaveLength(1)
  })

  test('refuses a version written in a package', () => {
    const manifest = { dependencies: { zod: 'catalog:' }, devDependencies: { viem: '2.57.1' } }
    expect(problems({ manifest, catalog: '  zod: 4.6.7\n' })).toEqual([
      'viem is "2.57.1"; write "catalog:" or "workspace:*"',
    ])
  })

  test.each(['^4.6.7', '4.6', 'latest', '>=4'])('refuses the range %s in the catalog', (range) => {
    const manifest = { dependencies: { zod: 'catalog:' } }
    expect(problems({ manifest, catalog: `  zod: "${range}"\n` })).toEqual([
      `zod is "${range}"; pin one version`,
    ])
  })

  test('refuses a catalog entry that no package uses', () => {
    expect(problems({ manifest: {}, catalog: '  zod: 4.6.7\n' })).toEqual([
      'zod is in the catalog but in no package',
    ])
  })
})
