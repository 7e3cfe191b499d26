import { expect, test } from 'vitest'
import { releasesCheck } from './releases.ts'

const note = '### Upgrade note\n\nNothing.\n'

function problems(changelog: string, version = '0.2.0'): readonly string[] {
  return releasesCheck
    .find([
      { path: 'CHANGELOG.md', text: `# Changelog\n\n${changelog}` },
      { path: 'package.json', text: JSON.stringify({ version }) },
    ])
    .map(({ problem }) => problem)
}

test('what is not released stands above releases, each with its note', () => {
  const released = `## 0.2.0, 2026-11-27\n\n${note}\n## 0.1.9, 2026-10-01\n\n${note}`
  expect(problems(released)).toEqual([])
  expect(problems(`## Unreleased\n\n- More.\n\n${released}`)).toEqual([])
})

test.each([
  ['a version that was forgotten', `## 0.1.0, 2026-11-27\n\n${note}`, 'the newest release is 0.1.0'],
  ['no release at all', '## Unreleased\n', 'the newest release is missing'],
  ['a release without its note', '## 0.2.0, 2026-11-27\n\n### Fixed\n', 'does not begin with'],
  ['a release without its date', `## 0.2.0\n\n${note}`, 'is neither'],
  [
    'an older release above',
    `## 0.2.0, 2026-11-27\n\n${note}\n## 0.10.0, 2026-11-26\n\n${note}`,
    '0.10.0 stands below 0.2.0',
  ],
  [
    'a release of tomorrow below one of today',
    `## 0.2.0, 2026-11-27\n\n${note}\n## 0.1.0, 2026-11-28\n\n${note}`,
    '0.1.0 stands below 0.2.0',
  ],
  [
    'what is not released below a release',
    `## 0.2.0, 2026-11-27\n\n${note}\n## Unreleased\n`,
    '"## Unreleased" stands below',
  ],
])('%s is named', (_, changelog, problem) => {
  expect(problems(changelog)).toContainEqual(expect.stringContaining(problem))
})
