/** The bar on top: where one is, the palette, the theme, the account. */

import { useLocation } from 'preact-iso';
import { configuration, logOut, user } from '../api/session';
import favicon from '../favicon.svg?url';
import { links, repositoryOf } from '../links';
import { Button } from '../parts/button';
import { Icon } from '../parts/icon';
import { Menu } from '../parts/menu';
import styles from './header.module.css';
import { isPaletteOpen } from './palette';
import { chooseTheme, theme } from './theme';

const PALETTE_KEYS = /Mac/.test(navigator.platform) ? '⌘K' : 'Ctrl K';

export function Header() {
  const { path } = useLocation();
  const name = repositoryOf(path);
  return (
    <header class={styles.header}>
      <a class={styles.brand} href={links.repositories()} aria-label="Graveler: all repositories">
        <img src={favicon} alt="" />
        <span class="wide-only">Graveler</span>
      </a>
      <nav class={styles.where} aria-label="Where you are">
        {name && (
          <>
            <span class="quiet">/</span>
            <a class="cut" href={links.objects(name)}>
              {name}
            </a>
          </>
        )}
      </nav>
      <Button
        class={styles.find}
        icon="search"
        aria-label={`Find or go to ${PALETTE_KEYS}`}
        onClick={() => {
          isPaletteOpen.value = true;
        }}
      >
        <span class="wide-only">
          Find or go to <kbd>{PALETTE_KEYS}</kbd>
        </span>
      </Button>
      <ThemeButton />
      <Menu label={`Account of ${user.value?.id ?? ''}`} icon="user">
        <div class={`small quiet ${styles.note}`}>
          Logged in as <b>{user.value?.friendly_name || user.value?.id}</b>
        </div>
        <a href={links.credentials()}>
          <Icon name="key" /> My access keys
        </a>
        <a href={links.users()}>
          <Icon name="group" /> Administration
        </a>
        <hr />
        <button type="button" onClick={logOut}>
          <Icon name="logout" /> Log out
        </button>
        <hr />
        <div class={`small quiet ${styles.note}`}>
          {location.origin}
          <br />
          Graveler {configuration.value?.version_config.graveler_version}, API of lakeFS{' '}
          {configuration.value?.version_config.version}
        </div>
      </Menu>
    </header>
  );
}

function ThemeButton() {
  const isDark =
    theme.value === 'dark' ||
    (theme.value === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  return (
    <Button
      kind="ghost"
      icon={isDark ? 'sun' : 'moon'}
      label={isDark ? 'Light colours' : 'Dark colours'}
      onClick={() => chooseTheme(isDark ? 'light' : 'dark')}
    />
  );
}
