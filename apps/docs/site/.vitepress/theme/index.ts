import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';

import HeroCode from './HeroCode.vue';
import RedocReference from './RedocReference.vue';
import RunOperation from './RunOperation.vue';

import './style.css';

const theme: Theme = {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-image': () => h(HeroCode) }),
  enhanceApp({ app }) {
    app.component('RedocReference', RedocReference);
    app.component('RunOperation', RunOperation);
  },
};
export default theme;
